"""Write the pictures of a run's page that the docs show: ``python benchmarks/page_pictures.py RUN docs/images``.

RUN is a run of the main job with the page that `agent-eval html` writes. Needs Chromium and the group ``peers``.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from agent_eval.reports.html import PAGE_NAME

DESKTOP, PHONE = (1280, 900), (390, 844)
PICTURES = {
    "html-summary.png": ("#summary", DESKTOP, "light"),
    "html-plots.png": ("#h-speed", DESKTOP, "light"),
    "html-episode.png": ("#episode=w4a8/WifiSet/0&step=2", DESKTOP, "dark"),
    "html-beside.png": ("#compare=w4a8/RecipeAdd/1", DESKTOP, "light"),
    "html-episodes-phone.png": ("#episodes&build=w4a8&against=lost", PHONE, "dark"),
}
"""Name of the file to what it shows, in a window of which size, light or dark."""


def main() -> None:
    page_file, folder = (Path(sys.argv[1]) / PAGE_NAME).resolve(), Path(sys.argv[2])
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=as_root)
        for name, (fragment, (width, height), scheme) in PICTURES.items():
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
            )
            page = context.new_page()
            page.goto(page_file.as_uri() + fragment)
            page.wait_for_timeout(1000)
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            few = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
            few.save(folder / name, optimize=True)
            context.close()
            print(f"{folder / name}: {(folder / name).stat().st_size // 1024} KB")
        browser.close()


if __name__ == "__main__":
    main()
