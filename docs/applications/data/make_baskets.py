"""Make visits.jsonl.gz, restaurants.jsonl.gz, cuisines.csv and cities.csv: python make_baskets.py MSWeb.rda FOLDER (needs the package rdata).

MSWeb.rda is in the folder data/ of the R package recommenderlab, in which the visitors of the UCI data set "Anonymous Microsoft Web Data" stand as a
matrix. FOLDER has rating_final.csv, chefmozcuisine.csv and geoplaces2.csv of the UCI data set "Restaurant & consumer data".
"""

import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import rdata

HERE = Path(__file__).parent


def write(name: str, records: list) -> None:
    lines = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
    (HERE / name).write_bytes(gzip.compress(lines.encode(), 9, mtime=0))


def visits(file: str) -> None:
    matrix = rdata.read_rda(file)["MSWeb"].data
    titles, columns = matrix.itemInfo["labels"].tolist(), matrix.data
    visitors = sorted(columns.i[a:b].tolist() for a, b in pairwise(columns.p))  # the order of visitors has no meaning; sorted, they take less space
    write("visits.jsonl.gz", [{"elements": [titles[area] for area in areas]} for areas in visitors])


def rows(path: Path, encoding: str) -> list[dict[str, str]]:
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.DictReader(file))


def readable(name: str) -> str:
    """The name of a restaurant, which the file has in one of two encodings."""
    try:
        return name.encode("latin-1").decode()
    except UnicodeDecodeError:
        return name


def city(latitude: float) -> str:
    """The city of a restaurant. The file spells it in many ways, but there are only three, far from each other."""
    return "Cuernavaca" if latitude < 20 else "San Luis Potosí" if latitude < 23 else "Ciudad Victoria"


def write_groups(name: str, groups: dict[str, str]) -> None:
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("element", "group"), *sorted(groups.items())])


def restaurants(folder: Path) -> None:
    places = rows(folder / "geoplaces2.csv", "latin-1")
    given = {row["placeID"]: readable(row["name"]) for row in places}
    common = Counter(given.values())
    names = {place: name if common[name] == 1 else f"{name} ({place})" for place, name in given.items()}
    people: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows(folder / "rating_final.csv", "utf-8-sig"):
        people[row["userID"]][names[row["placeID"]]] = int(row["rating"])
    write("restaurants.jsonl.gz", [{"id": person, "ratings": dict(sorted(people[person].items()))} for person in sorted(people)])
    cuisines: dict[str, str] = {}
    for row in rows(folder / "chefmozcuisine.csv", "utf-8-sig"):
        if row["placeID"] in names:
            cuisines.setdefault(names[row["placeID"]], row["Rcuisine"])
    write_groups("cuisines.csv", cuisines)
    write_groups("cities.csv", {names[row["placeID"]]: city(float(row["latitude"])) for row in places})


if __name__ == "__main__":
    visits(sys.argv[1])
    restaurants(Path(sys.argv[2]))
