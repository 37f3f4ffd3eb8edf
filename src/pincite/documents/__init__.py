"""Files to documents: discovery, decoding, readers, and the kept texts."""
