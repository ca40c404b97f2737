# Copies from FROM to TO what pages need of MathJax 2: TeX in, SVG with the TeX fonts out. SVG, since
# browsers refuse font files to pages that are opened from a folder.
cmake_minimum_required(VERSION 3.25)
file(
  COPY ${FROM}/
  DESTINATION ${TO}
  FILES_MATCHING
  PATTERN "*.js"
  PATTERN "unpacked" EXCLUDE
  PATTERN "localization" EXCLUDE
  PATTERN "config" EXCLUDE
  PATTERN "test" EXCLUDE
  PATTERN "fonts/HTML-CSS" EXCLUDE
  PATTERN "extensions/a11y" EXCLUDE
  PATTERN "extensions/MathML" EXCLUDE
  PATTERN "extensions/TeX/mh*" EXCLUDE
  PATTERN "extensions/TeX/[b-eg-lp-z]*" EXCLUDE
  PATTERN "SVG/fonts/TeX/Fraktur" EXCLUDE
  PATTERN "SVG/fonts/TeX/SansSerif" EXCLUDE
  PATTERN "SVG/fonts/TeX/Script" EXCLUDE
  PATTERN "SVG/fonts/TeX/Typewriter" EXCLUDE
  PATTERN "input/AsciiMath" EXCLUDE
  PATTERN "input/MathML" EXCLUDE
  PATTERN "output/CommonHTML" EXCLUDE
  PATTERN "output/HTML-CSS" EXCLUDE
  PATTERN "output/NativeMML" EXCLUDE
  PATTERN "output/PlainSource" EXCLUDE
  PATTERN "output/PreviewHTML" EXCLUDE
  PATTERN "SVG/fonts/Asana-Math" EXCLUDE
  PATTERN "SVG/fonts/Gyre-*" EXCLUDE
  PATTERN "SVG/fonts/Latin-Modern" EXCLUDE
  PATTERN "SVG/fonts/Neo-Euler" EXCLUDE
  PATTERN "SVG/fonts/STIX-Web" EXCLUDE)
