-- The tables of an index, and the one function that changes them. SCHEMA stands for the name of the index, quoted.

create table SCHEMA.about (
    format int not null,
    settings text not null,
    loading bool not null  -- a bulk load has begun and has not ended
);

-- One row, apart from `about` so that each change rewrites few bytes.
create table SCHEMA.state (
    next bigint not null,  -- the number of the next item
    items bigint not null  -- living items
) with (fillfactor = 10);

create table SCHEMA.items (
    number bigint not null,
    content bigint,         -- the first item with the same content, which has the columns below; null: this one
    copy bytea,
    size int,
    keys bigint[],          -- each with its band above bit 48
    slots bytea,
    id bytea not null,      -- JSON text
    words bytea             -- 8 bytes each, little endian
);
alter table SCHEMA.items alter column words set storage external;  -- hashes cannot be compressed
alter table SCHEMA.items alter column slots set storage external;

-- What a change does: see `store.Change`. Changes follow one another, so each sees all that came before.
create function SCHEMA.change(
    ids bytea[], copies bytea[], sizes bigint[], keys_ bigint[], slots_ bytea[], words_ bytea[],
    places bigint[],  -- ascending, from 0: where the items stand in the change
    total bigint,     -- how many numbers it takes; less with "skip"
    twice bigint[],   -- places of items whose id came before in the change, where that is refused
    existing text, after bigint,
    looked bigint[],  -- with `after`: the keys of the items that are not empty
    remove bytea[],
    made bigint,      -- the table that the caller opened
    out numbers bigint[], out removed bigint, out refused bigint[], out conflict bool
) language plpgsql as $$
#variable_conflict use_column
declare
    bands int := coalesce(cardinality(keys_) / nullif(cardinality(ids), 0), 0);
    first bigint;
    there bigint[];      -- the numbers of the items that have these ids; null: none
    gone bigint[] := '{}';
    living bigint := 0;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'a change of an index needs the isolation level read committed';
    end if;
    if made <> 'SCHEMA.items'::regclass::oid::bigint then
        raise exception 'the index was created again since it was opened: open it again';
    end if;
    perform pg_advisory_xact_lock(1818850917, made::int);
    select next into first from SCHEMA.state;
    numbers := '{}'; refused := '{}'; conflict := false;
    if cardinality(remove) > 0 then
        gone := array(select number from SCHEMA.items where id = any(remove));
    end if;
    removed := cardinality(gone);
    if cardinality(ids) > 0 then
        there := array(
            select i.number from unnest(ids) with ordinality as given(id, o)
            left join SCHEMA.items i on i.id = given.id and i.number <> all(gone) order by o);
        if existing in ('refuse', 'require') then
            refused := array(select places[o] from unnest(there) with ordinality as t(n, o) where (n is null) = (existing = 'require')) || twice;
        end if;
        if cardinality(refused) = 0 and after < first - 1 then
            conflict := exists (
                select from SCHEMA.items where number > after and size > 0 and keys && looked and number <> all(gone)
            ) or exists (
                select from SCHEMA.items i join SCHEMA.items c on c.number = i.content
                where i.number > after and c.size > 0 and c.keys && looked and i.number <> all(gone));
        end if;
        if cardinality(refused) > 0 or conflict then
            removed := 0;
            return;
        end if;
        if existing = 'skip' then
            numbers := array(
                select case when n is null then first - 1 + count(*) filter (where n is null) over (order by o) else -1 end
                from unnest(there) with ordinality as t(n, o) order by o);
            total := (select count(*) from unnest(numbers) n where n >= 0);
            there := '{}';
        else
            numbers := array(select first + place from unnest(places) with ordinality as t(place, o) order by o);
        end if;
        gone := gone || array(select n from unnest(there) n where n is not null);
    end if;
    if cardinality(gone) > 0 then
        -- the next copy inherits the content of one that goes
        with heirs as (
            select content, min(number) as heir from SCHEMA.items where content = any(gone) and number <> all(gone) group by content
        ), moved as (
            update SCHEMA.items i
            set content = null, copy = c.copy, size = c.size, keys = c.keys, slots = c.slots, words = c.words
            from heirs join SCHEMA.items c on c.number = heirs.content where i.number = heirs.heir
            returning c.number as old, i.number as heir
        )
        update SCHEMA.items i set content = moved.heir from moved where i.content = moved.old and i.number <> moved.heir;
        delete from SCHEMA.items where number = any(gone);
    end if;
    if cardinality(ids) > 0 then
        with given as (
            select * from unnest(ids, copies, sizes, slots_, words_, numbers) with ordinality as t(id, copy, size, slots, words, number, o)
            where number >= 0
        ), shared as (
            select given.*, coalesce(
                (select c.number from SCHEMA.items c where c.copy = given.copy),
                first_value(number) over (partition by copy order by number)) as whose
            from given
        )
        insert into SCHEMA.items(number, content, copy, size, keys, slots, id, words)
        select number, null, copy, size, keys_[(o - 1) * bands + 1 : o * bands], slots, id, words from shared where whose = number
        union all
        select number, whose, null, null, null, null, id, null from shared where whose <> number;
        get diagnostics living = row_count;
    end if;
    if living > 0 or cardinality(gone) > 0 or total > 0 then
        update SCHEMA.state set next = first + total, items = items + living - cardinality(gone);
    end if;
end
$$;
