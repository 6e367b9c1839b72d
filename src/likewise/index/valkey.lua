-- The functions of an index in Valkey. KEYS[1] is the prefix of its keys, which has the hash tag. Numbers have 6 bytes, so that they sort as bytes.
--   A  hash: format, settings, made (drawn when the index was created), loading
--   S  hash: next, items
--   i<id>      the number of the item
--   n<number>  1, copy (12 bytes), size (4), keys (8 each), length of the id (4), id, slots, words: an item that has its content
--              0, copy, length of the id, id: one that shares the content of an earlier item
--   h<copy>    the number of the first item with this content
--   k<number>  the numbers of the others with the content of this item
--   b<key>     the numbers of the contents that have this key

local HEAD = 17

local function packed(number) return struct.pack('>I6', number) end
local function number_at(list, place) return (struct.unpack('>I6', list, place * 6 + 1)) end

-- The place of the first number in an ascending list that is not below this one.
local function place_of(list, number)
    local low, high = 0, #list / 6
    while low < high do
        local middle = math.floor((low + high) / 2)
        if number_at(list, middle) < number then low = middle + 1 else high = middle end
    end
    return low
end

-- A list without one number, and with another.
local function exchanged(list, old, new)
    local at = place_of(list, old) * 6
    if at < #list and number_at(list, at / 6) == old then list = list:sub(1, at) .. list:sub(at + 7) end
    if new then
        at = place_of(list, new) * 6
        list = list:sub(1, at) .. packed(new) .. list:sub(at + 1)
    end
    return list
end

local function put(key, value)
    if #value > 0 then redis.call('SET', key, value) else redis.call('DEL', key) end
end

local function id_of(record, bands)
    local at = record:byte(1) == 1 and HEAD + 8 * bands + 1 or 14
    local length = struct.unpack('>I4', record, at)
    return record:sub(at + 4, at + 3 + length), at
end

-- The keys of the content of a record, which is empty: none.
local function keys_in(record, bands)
    local found = {}
    if struct.unpack('>I4', record, 14) > 0 then
        for band = 1, bands do found[band] = record:sub(HEAD + 8 * band - 7, HEAD + 8 * band) end
    end
    return found
end

local function content_of(prefix, copy)
    local whose = redis.call('GET', prefix .. 'h' .. copy)
    return whose, whose and redis.call('GET', prefix .. 'n' .. whose)
end

-- True if a living item above `after` has one of these keys. Where many came meanwhile, it is said to be so: the caller looks again.
local function came(prefix, after, following, looked, bands, gone)
    if #looked == 0 then return false end
    if following - 1 - after > 10000 then return true end
    local wanted = {}
    for at = 1, #looked, 8 do wanted[looked:sub(at, at + 7)] = true end
    for number = math.max(after + 1, 0), following - 1 do
        if not gone[number] then
            local record = redis.call('GETRANGE', prefix .. 'n' .. packed(number), 0, HEAD + 8 * bands - 1)
            if #record > 0 then
                if record:byte(1) == 0 then
                    local _, whole = content_of(prefix, record:sub(2, 13))
                    record = whole
                end
                for _, key in ipairs(keys_in(record, bands)) do
                    if wanted[key] then return true end
                end
            end
        end
    end
    return false
end

-- Remove an item. The first copy that stays inherits the content of one that goes.
local function remove(prefix, number, bands, gone)
    local name = prefix .. 'n' .. packed(number)
    local record = redis.call('GET', name)
    local id, at = id_of(record, bands)
    local copy = record:sub(2, 13)
    redis.call('DEL', name, prefix .. 'i' .. id)
    if record:byte(1) == 0 then
        local whose = redis.call('GET', prefix .. 'h' .. copy)
        if whose then put(prefix .. 'k' .. whose, exchanged(redis.call('GET', prefix .. 'k' .. whose) or '', number)) end
        return
    end
    local others = redis.call('GET', prefix .. 'k' .. packed(number)) or ''
    local heir
    for place = 0, #others / 6 - 1 do
        if not gone[number_at(others, place)] then heir = number_at(others, place) break end
    end
    redis.call('DEL', prefix .. 'k' .. packed(number))
    if heir then
        local own = id_of(redis.call('GET', prefix .. 'n' .. packed(heir)), bands)
        local content = record:sub(1, at - 1) .. struct.pack('>I4', #own) .. own .. record:sub(at + 4 + #id)
        redis.call('SET', prefix .. 'n' .. packed(heir), content)
        redis.call('SET', prefix .. 'h' .. copy, packed(heir))
        put(prefix .. 'k' .. packed(heir), exchanged(others, heir))
    else
        redis.call('DEL', prefix .. 'h' .. copy)
    end
    for _, key in ipairs(keys_in(record, bands)) do
        put(prefix .. 'b' .. key, exchanged(redis.call('GET', prefix .. 'b' .. key) or '', number, heir))
    end
end

local function add(prefix, number, id, content, bands)
    local copy, name = content:sub(1, 12), packed(number)
    local named = struct.pack('>I4', #id) .. id
    local whose = redis.call('GET', prefix .. 'h' .. copy)
    redis.call('SET', prefix .. 'i' .. id, name)
    if whose then
        redis.call('SET', prefix .. 'n' .. name, '\0' .. copy .. named)
        redis.call('APPEND', prefix .. 'k' .. whose, name)
        return
    end
    local record = '\1' .. content:sub(1, 16 + 8 * bands) .. named .. content:sub(17 + 8 * bands)
    redis.call('SET', prefix .. 'h' .. copy, name)
    redis.call('SET', prefix .. 'n' .. name, record)
    for _, key in ipairs(keys_in(record, bands)) do redis.call('APPEND', prefix .. 'b' .. key, name) end
end

-- made, existing, after, bands, numbers taken, looked, items, removals, places refused in any case; then place, id and content of each item; removals.
-- Returns {conflict, removed, refused places, numbers}.
local function change(keys, args)
    local prefix, existing, after = keys[1], args[2], tonumber(args[3])
    local bands, total, looked, n, removals = tonumber(args[4]), tonumber(args[5]), args[6], tonumber(args[7]), tonumber(args[8])
    if redis.call('HGET', prefix .. 'A', 'made') ~= args[1] then
        return redis.error_reply('REPLACED the index was created again since it was opened: open it again')
    end
    local state = redis.call('HMGET', prefix .. 'S', 'next', 'items')
    local first, items = tonumber(state[1]), tonumber(state[2])
    local gone, going = {}, {}
    local function go(number)
        if number and not gone[number] then
            gone[number] = true
            going[#going + 1] = number
        end
    end
    local function number_of(id)
        local found = redis.call('GET', prefix .. 'i' .. id)
        return found and number_at(found, 0)
    end
    for one = 1, removals do go(number_of(args[9 + 3 * n + one])) end
    local removed = #going
    local there, refused, numbers = {}, cjson.decode(args[9]), {}
    for one = 1, n do
        local found = number_of(args[8 + 3 * one])
        if not found or gone[found] then found = false end
        there[one] = found
        if (existing == 'refuse' and found) or (existing == 'require' and not found) then refused[#refused + 1] = tonumber(args[7 + 3 * one]) end
    end
    if #refused > 0 then return {0, 0, refused, {}} end
    if after and came(prefix, after, first, looked, bands, gone) then return {1, 0, {}, {}} end
    if existing == 'skip' then total = 0 end
    for one = 1, n do
        if existing == 'skip' then
            numbers[one] = -1
            if not there[one] then
                numbers[one] = first + total
                total = total + 1
            end
        else
            numbers[one] = first + tonumber(args[7 + 3 * one])
            if there[one] then go(there[one]) end
        end
    end
    for _, number in ipairs(going) do remove(prefix, number, bands, gone) end
    local living = 0
    for one = 1, n do
        if numbers[one] >= 0 then
            add(prefix, numbers[one], args[8 + 3 * one], args[9 + 3 * one], bands)
            living = living + 1
        end
    end
    redis.call('HSET', prefix .. 'S', 'next', string.format('%.0f', first + total), 'items', string.format('%.0f', items + living - #going))
    return {0, removed, {}, numbers}
end

-- bands, most, numbers: for each the record of a content, the numbers of its copies, and their ids unless there are more than `most`. Nothing for one
-- that is not the first of a content any more.
local function look(keys, args)
    local prefix, bands, most, found = keys[1], tonumber(args[1]), tonumber(args[2]), {}
    for at = 1, #args[3], 6 do
        local number = args[3]:sub(at, at + 5)
        local record = redis.call('GET', prefix .. 'n' .. number)
        if record and record:byte(1) == 1 then
            local copies, ids = redis.call('GET', prefix .. 'k' .. number) or '', {}
            if #copies <= 6 * most then
                for place = 1, #copies, 6 do
                    ids[#ids + 1] = id_of(redis.call('GET', prefix .. 'n' .. copies:sub(place, place + 5)), bands)
                end
            end
            found[#found + 1] = {record, copies, ids}
        else
            found[#found + 1] = false
        end
    end
    return found
end

-- bands, copy: the numbers and the ids of all items with this content.
local function copies(keys, args)
    local prefix, bands, ids = keys[1], tonumber(args[1]), {}
    local whose = redis.call('GET', prefix .. 'h' .. args[2])
    if not whose then return {'', ids} end
    local numbers = whose .. (redis.call('GET', prefix .. 'k' .. whose) or '')
    for place = 1, #numbers, 6 do
        ids[#ids + 1] = id_of(redis.call('GET', prefix .. 'n' .. numbers:sub(place, place + 5)), bands)
    end
    return {numbers, ids}
end

-- bands, numbers: the ids of these items; nothing for one that is gone.
local function ids(keys, args)
    local found = {}
    for at = 1, #args[2], 6 do
        local record = redis.call('GET', keys[1] .. 'n' .. args[2]:sub(at, at + 5))
        found[#found + 1] = record and id_of(record, tonumber(args[1]))
    end
    return found
end

-- band, numbers: the keys of these contents in one band, one after the other; fewer if one of them is gone.
local function keys_of(keys, args)
    local prefix, from, found = keys[1], HEAD + 8 * tonumber(args[1]), {}
    for at = 1, #args[2], 6 do
        found[#found + 1] = redis.call('GETRANGE', prefix .. 'n' .. args[2]:sub(at, at + 5), from, from + 7)
    end
    return table.concat(found)
end

-- bands, from, to: of each living item the number, the id, the record of its content, and 1 if that is its own.
local function scan(keys, args)
    local prefix, bands, found = keys[1], tonumber(args[1]), {}
    for number = tonumber(args[2]), tonumber(args[3]) do
        local record = redis.call('GET', prefix .. 'n' .. packed(number))
        if record then
            local id, own = id_of(record, bands), record:byte(1)
            if record:byte(1) == 0 then
                local _, whole = content_of(prefix, record:sub(2, 13))
                record = whole
            end
            found[#found + 1] = {number, id, record or '', own}
        end
    end
    return found
end

-- made: mark an index without items as one that is being loaded. Returns 1 if it is.
local function claim(keys, args)
    local about = redis.call('HMGET', keys[1] .. 'A', 'made', 'loading')
    if about[1] ~= args[1] or about[2] ~= '0' or redis.call('HGET', keys[1] .. 'S', 'next') ~= '0' then return 0 end
    redis.call('HSET', keys[1] .. 'A', 'loading', '1')
    return 1
end

redis.register_function('NAME_change', change)
redis.register_function('NAME_claim', claim)
redis.register_function{function_name = 'NAME_look', callback = look, flags = {'no-writes'}}
redis.register_function{function_name = 'NAME_copies', callback = copies, flags = {'no-writes'}}
redis.register_function{function_name = 'NAME_ids', callback = ids, flags = {'no-writes'}}
redis.register_function{function_name = 'NAME_keys', callback = keys_of, flags = {'no-writes'}}
redis.register_function{function_name = 'NAME_scan', callback = scan, flags = {'no-writes'}}
