"""Settings: code defaults < pincite.toml < .env < environment < argument."""

from pincite.settings.load import load_settings
from pincite.settings.model import Settings

__all__ = ["Settings", "load_settings"]
