"""Figures of each corpus: how its lookups went, and how core and legacy path differ."""

from pincite.figures.corpora import all_figures as all_figures
from pincite.figures.corpora import corpora_with_figures as corpora_with_figures
from pincite.figures.corpora import figures_of as figures_of
from pincite.figures.figures import Figures as Figures
from pincite.figures.markdown import daily_markdown as daily_markdown
from pincite.figures.markdown import figures_markdown as figures_markdown
from pincite.figures.shadow import ShadowFigures as ShadowFigures
from pincite.figures.shadow import shadow_of as shadow_of
