#!/usr/bin/env python3
"""Reads the documentation's site in a browser: test_site.py HTML_FOLDER

Each page of the guide without an error of the browser, with its formulas drawn and no command of Doxygen's left over, as
wide as a phone's screen; listings that name their file and fit; keys that scroll; comments that can be read in both
themes; words that the search finds; no link that leads nowhere; and a guide that is not too large.
"""

import re
import shutil
import sys
import unittest
from html import unescape
from pathlib import Path
from urllib.parse import unquote

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None

SITE = Path(sys.argv.pop(1)).resolve()
if not (SITE / "index.html").exists():
    print("Skipped: the documentation has not been built.")
    sys.exit()
# What a reader types, and the page of one of the first three answers.
SEARCHES = {"coalescing": "stage_02|gpu|glossary|counters|product_tiles|bias_gradient",
            "bank conflict": "product|gpu|transpose|glossary|counters",
            "all-reduce": "all_reduce|stage_05|glossary", "shared memory": "stage_03|product|gpu|glossary",
            "softmax": "stage_01|glossary", "warp": "gpu|glossary|stage_0|product|reduction", "occupancy": "gpu|glossary|product|fast",
            "tensor parallelism": "tensor|stage_05|glossary", "__syncthreads": "stage_03|wrong|product|reduction|gpu",
            "checkpoint": "data|stage|glossary|seeing|wrong", "Amdahl": "scaling|glossary", "CUDA graph": "cuda_graphs|glossary"}
# Of the visible page: what is code or said there has been taken out.
LEFTOVERS = re.compile(r"\\(ref|section|snippet|image|anchor|f\$|f\[)|@(ref|section|page)|</?(tt|code|div)>|\{#|<!--|code:\w")
LIGHT = "arguments[0].classList.remove('dark-mode'); arguments[0].classList.add('light-mode')"
DARK = "arguments[0].classList.remove('light-mode'); arguments[0].classList.add('dark-mode')"
CONTRAST = """
const parse = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number);
const light = (rgb) => {
  const [r, g, b] = rgb.map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const comment = document.querySelector(".contents span.comment");
if (comment === null) return null;
const [a, b] = [getComputedStyle(comment).color, getComputedStyle(comment.closest("div.fragment")).backgroundColor]
  .map(parse).map(light);
return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
"""


def pages():
    return sorted(path for path in SITE.glob("*.html") if re.search(r'<div class="contents">', path.read_text("utf-8"))
                  and not path.name.startswith(("md_", "pages")))


class Files(unittest.TestCase):
    def test_no_link_leads_nowhere(self):
        names = {}
        for path in pages():
            text = path.read_text("utf-8")
            for target in re.findall(r'(?:href|src|data)="([^"]+)"', text.partition('<div class="contents">')[2]):
                target = unquote(unescape(target))
                if re.match(r"\w+:", target):
                    continue
                file, _, anchor = target.partition("#")
                there = SITE / file if file else path
                with self.subTest(page=path.name, target=target):
                    self.assertTrue(there.exists(), "no such file")
                    if anchor and there.suffix == ".html":
                        if there not in names:
                            names[there] = set(re.findall(r'(?:id|name)="([^"]+)"', there.read_text("utf-8")))
                        self.assertIn(anchor, names[there])

    def test_the_guide_is_small(self):
        files = [path for path in SITE.rglob("*") if path.is_file() and "api" not in path.relative_to(SITE).parts]
        self.assertLessEqual(len(files), 300)
        self.assertLessEqual(sum(path.stat().st_size for path in files), 10e6)

    def test_one_first_heading_and_alternatives_of_pictures(self):
        for path in pages():
            text = path.read_text("utf-8")
            with self.subTest(page=path.name):
                self.assertIn('<html lang="en">', text)
                contents = text.partition('<div class="contents">')[2]
                self.assertEqual(len(re.findall(r"<object", contents)), len(re.findall("<object[^>]* aria-label=", contents)))
                for place in re.findall(r'<div class="listing">(.*?)<div class="fragment">', contents, re.DOTALL):
                    self.assertRegex(place, r"lines? \d+")


@unittest.skipIf(webdriver is None or not (shutil.which("chromium") and shutil.which("chromedriver")),
                 "needs Chromium, chromedriver and Selenium")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = Options()
        options.binary_location = shutil.which("chromium")
        for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1400,900",
                       "--disable-dev-shm-usage", "--allow-file-access-from-files"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()

    def open(self, name):
        self.driver.get(f"file://{SITE}/{name}")

    def test_every_page(self):
        for path in pages():
            with self.subTest(page=path.name):
                self.open(path.name)
                WebDriverWait(self.driver, 60).until(lambda driver: driver.execute_script(
                    "return typeof MathJax === 'undefined' || (MathJax.Hub && MathJax.Hub.queue.pending === 0 && "
                    "document.querySelectorAll('script[type^=\"math/tex\"]').length === "
                    "document.querySelectorAll('.MathJax_SVG').length)"))
                self.assertEqual([entry["message"] for entry in self.driver.get_log("browser")
                                  if entry["level"] == "SEVERE"], [])
                said = self.driver.execute_script(
                    "const page = document.querySelector('.contents').cloneNode(true);"
                    "page.querySelectorAll('.fragment, code, pre, script, .MathJax_SVG').forEach((e) => e.remove());"
                    "return page.textContent")
                self.assertIsNone(LEFTOVERS.search(said), LEFTOVERS.search(said))
                cut = self.driver.execute_script(
                    "return [...document.querySelectorAll('.listing .fragment')]"
                    ".filter((e) => e.scrollWidth > e.clientWidth + 1).length")
                self.assertEqual(cut, 0, "listings are cut off")

    def test_fits_a_phone(self):
        self.driver.set_window_size(500, 900)  # the narrowest that a browser with windows makes
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True})
        try:
            for path in pages():
                with self.subTest(page=path.name):
                    self.open(path.name)
                    wide = self.driver.execute_script(
                        "return Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)")
                    self.assertLessEqual(wide, 400)
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            self.driver.set_window_size(1400, 900)

    def test_keys_scroll_without_a_click(self):
        self.open("glossary.html")
        self.driver.switch_to.active_element.send_keys(Keys.PAGE_DOWN)
        WebDriverWait(self.driver, 10).until(
            lambda driver: driver.execute_script("return document.getElementById('doc-content').scrollTop") > 100)

    def test_comments_can_be_read(self):
        self.open("stage_02.html")
        for theme in (LIGHT, DARK):
            self.driver.execute_script(theme, self.driver.find_element(By.TAG_NAME, "html"))
            contrast = self.driver.execute_script(CONTRAST)
            self.assertIsNotNone(contrast, "no comment on the page")
            self.assertGreaterEqual(contrast, 4.5)

    def test_search_finds(self):
        for words, wanted in SEARCHES.items():
            with self.subTest(words=words):
                self.open("index.html")
                self.driver.find_element(By.CSS_SELECTOR, ".guide-search input").send_keys(words)
                first = WebDriverWait(self.driver, 30).until(lambda driver: [
                    link.get_attribute("href").rpartition("/")[2]
                    for link in driver.find_elements(By.CSS_SELECTOR, ".guide-search li a")][:3])
                self.assertTrue(any(re.search(wanted, name) for name in first), first)

    def test_previous_and_next(self):
        self.open("index.html")
        seen = 0
        while seen < 100:
            following = self.driver.find_elements(By.CSS_SELECTOR, ".neighbours a.next")
            if not following:
                break
            self.driver.get(following[0].get_attribute("href"))
            seen += 1
        self.assertGreaterEqual(seen, 20)
        self.assertTrue(self.driver.find_elements(By.CSS_SELECTOR, ".neighbours a.prev"))


if __name__ == "__main__":
    unittest.main()
