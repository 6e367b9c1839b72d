#!/usr/bin/env bash
# Get the packages that texts.py reads with apt-get and pip, and unpack them below FOLDER: bash fetch_texts.sh FOLDER
set -euo pipefail
mkdir -p "$1/packages"
cd "$1"
apt=(linux-doc-6.1 bible-kjv bible-kjv-text mythes-en-us manpages manpages-dev manpages-{de,es,fr,it,ja,pl,pt-br,ru} manpages-{de,fr}-dev
    debian-faq debian-policy debian-reference-en developers-reference glibc-doc perl-doc postgresql-doc-15 python3.11-doc
    python-sqlalchemy-doc sqlite3-doc python3-{django,matplotlib,pandas,sklearn,sympy,twisted})
pip=(Django==4.2.16 Django==5.2.8)
(cd packages && apt-get download --quiet=2 "${apt[@]}")
for name in "${pip[@]}"; do
    (cd packages && python3 -m pip download --quiet --no-deps --no-binary :all: "$name")
done
for file in packages/*.deb; do
    name=$(basename "$file") && dpkg-deb --extract "$file" "${name%%_*}"
done
for file in packages/*.tar.gz; do
    name=$(basename "$file" .tar.gz) && mkdir -p "$name" && tar --extract --file "$file" --directory "$name" --strip-components 1
done
bible-kjv/usr/bin/bible -f -p bible-kjv-text/usr/lib gen1:1-rev22:21 < /dev/null > bible.txt
