BEGIN TRANSACTION;
CREATE TABLE catalog_version (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "catalog_version" VALUES(2);
CREATE TABLE corpora (
	corpus VARCHAR(64) NOT NULL, 
	live_generation INTEGER NOT NULL, 
	PRIMARY KEY (corpus)
);
INSERT INTO "corpora" VALUES('docs',1);
INSERT INTO "corpora" VALUES('memory',1);
CREATE TABLE documents (
	corpus VARCHAR(64) NOT NULL, 
	doc_id VARCHAR(512) NOT NULL, 
	version BIGINT NOT NULL, 
	kb_scope VARCHAR(256) NOT NULL, 
	source_name VARCHAR(255) NOT NULL, 
	source TEXT NOT NULL, 
	category TEXT NOT NULL, 
	title TEXT NOT NULL, 
	summary TEXT NOT NULL, 
	keywords TEXT NOT NULL, 
	tags TEXT NOT NULL, 
	aliases TEXT NOT NULL, 
	text_digest VARCHAR(64) NOT NULL, 
	updated_at BIGINT NOT NULL, 
	PRIMARY KEY (corpus, doc_id)
);
INSERT INTO "documents" VALUES('docs','rail.md',1,'','manual','manual/rail.md','travel','Travel by rail','','["rail", "tickets"]','["internal"]','["train"]','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',1700000000000);
INSERT INTO "documents" VALUES('docs','hnsw.md',1,'','manual','manual/hnsw.md','search','索引参数','','["HNSW 索引"]','[]','[]','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',1700000000000);
INSERT INTO "documents" VALUES('docs','eval.md',1,'rag-eval','manual','manual/eval.md','evaluation','Secret questions','','["rail"]','[]','[]','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',1700000000000);
INSERT INTO "documents" VALUES('docs','O''Neil.md',1,'','manual','manual/O''Neil.md','','It''s','','[]','[]','[]','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',1700000000000);
INSERT INTO "documents" VALUES('memory','item',1,'','manual','manual/a.md','guide','Über 😀','','["one", "zwei"]','[]','[]','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',1700000000000);
CREATE TABLE generations (
	corpus VARCHAR(64) NOT NULL, 
	generation INTEGER NOT NULL, 
	collection VARCHAR(255) NOT NULL, 
	recipe TEXT NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	gate TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	PRIMARY KEY (corpus, generation)
);
INSERT INTO "generations" VALUES('docs',1,'pincite_docs_g1','{"chunk_overlap": 80, "chunk_size": 400, "chunker": "window/1", "dim": 384, "embedded_text": "content", "embedder": "hash|é", "row_schema": 2}','READY','',1700000000000);
INSERT INTO "generations" VALUES('memory',1,'pincite_memory_g1','{"chunk_overlap": 80, "chunk_size": 400, "chunker": "window/1", "dim": 384, "embedded_text": "content", "embedder": "hash|é", "row_schema": 2}','READY','',1700000000000);
CREATE TABLE "indexed" (
	corpus VARCHAR(64) NOT NULL, 
	generation INTEGER NOT NULL, 
	doc_id VARCHAR(512) NOT NULL, 
	kb_scope VARCHAR(256) NOT NULL, 
	source_name VARCHAR(255) NOT NULL, 
	source TEXT NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	version BIGINT NOT NULL, 
	chunk_count INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	error_code VARCHAR(64) NOT NULL, 
	error_message TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	updated_at BIGINT NOT NULL, 
	PRIMARY KEY (corpus, generation, doc_id)
);
INSERT INTO "indexed" VALUES('docs',1,'rail.md','','manual','manual/rail.md','6945e8da3a063e125401438d45e33e4854e615fdc2edafa3b67582a628e13291',1,2,'0bf474896363505e5ea5e5d6ace8ebfb13a760a409b1fb467d428fc716f9f284','INDEXED','','',0,1700000000000);
INSERT INTO "indexed" VALUES('docs',1,'hnsw.md','','manual','manual/hnsw.md','f6dc91ba9638c36ae0e09481cbe840d918a0f6e6640b5760c51a952d7e2484a1',1,2,'0bf474896363505e5ea5e5d6ace8ebfb13a760a409b1fb467d428fc716f9f284','INDEXED','','',0,1700000000000);
INSERT INTO "indexed" VALUES('docs',1,'eval.md','rag-eval','manual','manual/eval.md','0b52776515cae3fedfc6f49f2ae465f830681a18ab5a8f5482ef5f71ab36d21f',1,2,'0bf474896363505e5ea5e5d6ace8ebfb13a760a409b1fb467d428fc716f9f284','INDEXED','','',0,1700000000000);
INSERT INTO "indexed" VALUES('docs',1,'O''Neil.md','','manual','manual/O''Neil.md','51ff8fe08ab06ccb620918fe24552ec1b6f706aba149e027844828653ef5794c',1,2,'0bf474896363505e5ea5e5d6ace8ebfb13a760a409b1fb467d428fc716f9f284','INDEXED','','',0,1700000000000);
INSERT INTO "indexed" VALUES('docs',1,'broken.md','','manual','manual/a.md','',0,0,'','FAILED','READ_FAILED','It does not open.',1,1700000000000);
INSERT INTO "indexed" VALUES('memory',1,'item','','manual','manual/a.md','acadda60a86d56e836b3df33c0bd3205d7e0f0ffb12733b44866917582286cde',1,2,'0bf474896363505e5ea5e5d6ace8ebfb13a760a409b1fb467d428fc716f9f284','INDEXED','','',0,1700000000000);
CREATE TABLE journal (
	id INTEGER NOT NULL, 
	corpus VARCHAR(64) NOT NULL, 
	generation INTEGER NOT NULL, 
	doc_id VARCHAR(512) NOT NULL, 
	operation VARCHAR(16) NOT NULL, 
	version BIGINT NOT NULL, 
	owner VARCHAR(64) NOT NULL, 
	fence BIGINT NOT NULL, 
	opened_at BIGINT NOT NULL, 
	expires_at BIGINT NOT NULL, 
	closed_at BIGINT, 
	outcome VARCHAR(16) NOT NULL, 
	open_slot SMALLINT, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_journal_open UNIQUE (corpus, generation, doc_id, open_slot), 
	CONSTRAINT uq_journal_version UNIQUE (corpus, doc_id, version)
);
INSERT INTO "journal" VALUES(1,'docs',1,'rail.md','write',1,'first',1,1700000000000,1700000030000,1700000000000,'stamped',NULL);
INSERT INTO "journal" VALUES(2,'docs',1,'hnsw.md','write',1,'first',1,1700000000000,1700000030000,1700000000000,'stamped',NULL);
INSERT INTO "journal" VALUES(3,'docs',1,'eval.md','write',1,'first',1,1700000000000,1700000030000,1700000000000,'stamped',NULL);
INSERT INTO "journal" VALUES(4,'docs',1,'O''Neil.md','write',1,'first',1,1700000000000,1700000030000,1700000000000,'stamped',NULL);
INSERT INTO "journal" VALUES(5,'docs',1,'gone.md','write',1,'first',1,1700000000000,1700000030000,1700000000000,'stamped',NULL);
INSERT INTO "journal" VALUES(6,'docs',1,'gone.md','remove',2,'first',1,1700000000000,1700000030000,1700000000000,'removed',NULL);
INSERT INTO "journal" VALUES(7,'memory',1,'item','write',1,'m',0,1700000000000,1700000030000,1700000000000,'stamped',NULL);
CREATE TABLE l0_terms (
	corpus VARCHAR(64) NOT NULL, 
	term VARCHAR(80) NOT NULL, 
	kb_scope VARCHAR(256) NOT NULL, 
	doc_id VARCHAR(512) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	category TEXT NOT NULL, 
	PRIMARY KEY (corpus, term, kb_scope, doc_id, kind)
)
 WITHOUT ROWID

;
INSERT INTO "l0_terms" VALUES('docs','evalu','rag-eval','eval.md','category','evaluation');
INSERT INTO "l0_terms" VALUES('docs','hnsw 索引','','hnsw.md','keyword','search');
INSERT INTO "l0_terms" VALUES('docs','internal','','rail.md','tag','travel');
INSERT INTO "l0_terms" VALUES('docs','rail','','rail.md','keyword','travel');
INSERT INTO "l0_terms" VALUES('docs','rail','rag-eval','eval.md','keyword','evaluation');
INSERT INTO "l0_terms" VALUES('docs','search','','hnsw.md','category','search');
INSERT INTO "l0_terms" VALUES('docs','secret question','rag-eval','eval.md','title','evaluation');
INSERT INTO "l0_terms" VALUES('docs','ticket','','rail.md','keyword','travel');
INSERT INTO "l0_terms" VALUES('docs','train','','rail.md','alias','travel');
INSERT INTO "l0_terms" VALUES('docs','travel','','rail.md','category','travel');
INSERT INTO "l0_terms" VALUES('docs','travel rail','','rail.md','title','travel');
INSERT INTO "l0_terms" VALUES('docs','索引参数','','hnsw.md','title','search');
CREATE TABLE leases (
	corpus VARCHAR(64) NOT NULL, 
	generation INTEGER NOT NULL, 
	owner VARCHAR(64) NOT NULL, 
	fence BIGINT NOT NULL, 
	expires_at BIGINT NOT NULL, 
	PRIMARY KEY (corpus, generation)
);
INSERT INTO "leases" VALUES('docs',1,'',1,0);
CREATE TABLE ledger (
	corpus VARCHAR(64) NOT NULL, 
	generation INTEGER NOT NULL, 
	evidence_key VARCHAR(560) NOT NULL, 
	version BIGINT NOT NULL, 
	doc_id VARCHAR(512) NOT NULL, 
	chunk_index INTEGER NOT NULL, 
	content_sha256 VARCHAR(64) NOT NULL, 
	text_digest VARCHAR(64) NOT NULL, 
	char_start BIGINT NOT NULL, 
	char_end BIGINT NOT NULL, 
	heading TEXT NOT NULL, 
	erased_at BIGINT NOT NULL, 
	PRIMARY KEY (corpus, generation, evidence_key, version)
);
INSERT INTO "ledger" VALUES('docs',1,'rail.md#chunk-0',1,'rail.md',0,'822beb0d1729878ad343b6c35b1d5e45e62f8e36b6543c2312b6f1cb6d00cdef','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',0,10,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'rail.md#chunk-1',1,'rail.md',1,'900a4469df00ccbfd0c145c6d1e4b7953dd0afafadd7534e3a4019e8d38fc663','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',10,20,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'hnsw.md#chunk-0',1,'hnsw.md',0,'822beb0d1729878ad343b6c35b1d5e45e62f8e36b6543c2312b6f1cb6d00cdef','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',0,10,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'hnsw.md#chunk-1',1,'hnsw.md',1,'900a4469df00ccbfd0c145c6d1e4b7953dd0afafadd7534e3a4019e8d38fc663','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',10,20,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'eval.md#chunk-0',1,'eval.md',0,'822beb0d1729878ad343b6c35b1d5e45e62f8e36b6543c2312b6f1cb6d00cdef','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',0,10,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'eval.md#chunk-1',1,'eval.md',1,'900a4469df00ccbfd0c145c6d1e4b7953dd0afafadd7534e3a4019e8d38fc663','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',10,20,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'O''Neil.md#chunk-0',1,'O''Neil.md',0,'822beb0d1729878ad343b6c35b1d5e45e62f8e36b6543c2312b6f1cb6d00cdef','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',0,10,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'O''Neil.md#chunk-1',1,'O''Neil.md',1,'900a4469df00ccbfd0c145c6d1e4b7953dd0afafadd7534e3a4019e8d38fc663','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',10,20,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'gone.md#chunk-0',1,'gone.md',0,'822beb0d1729878ad343b6c35b1d5e45e62f8e36b6543c2312b6f1cb6d00cdef','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',0,10,'Top > Sub',0);
INSERT INTO "ledger" VALUES('docs',1,'gone.md#chunk-1',1,'gone.md',1,'900a4469df00ccbfd0c145c6d1e4b7953dd0afafadd7534e3a4019e8d38fc663','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',10,20,'Top > Sub',0);
INSERT INTO "ledger" VALUES('memory',1,'item#chunk-0',1,'item',0,'822beb0d1729878ad343b6c35b1d5e45e62f8e36b6543c2312b6f1cb6d00cdef','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',0,10,'Top > Sub',0);
INSERT INTO "ledger" VALUES('memory',1,'item#chunk-1',1,'item',1,'900a4469df00ccbfd0c145c6d1e4b7953dd0afafadd7534e3a4019e8d38fc663','982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1',10,20,'Top > Sub',0);
CREATE TABLE lookups (
	id INTEGER NOT NULL, 
	trace_id VARCHAR(64) NOT NULL, 
	corpus VARCHAR(64) NOT NULL, 
	created_at BIGINT NOT NULL, 
	latency_ms INTEGER NOT NULL, 
	evidence_status VARCHAR(16) NOT NULL, 
	hit_count INTEGER NOT NULL, 
	fallback_reason VARCHAR(64) NOT NULL, 
	degradations TEXT NOT NULL, kb_scope VARCHAR(256), generation INTEGER, mode VARCHAR(16), selected_attempt VARCHAR(255), reranker TEXT, reranker_applied BOOLEAN, rerank_reason VARCHAR(64), query_sha256 VARCHAR(64), "query" TEXT, blocks TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "lookups" VALUES(1,'t0','docs',1700000000000,0,'SUFFICIENT',5,'','["rerank_failed"]',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "lookups" VALUES(2,'t1','docs',1700000000000,1,'SUFFICIENT',5,'','["rerank_failed"]',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "lookups" VALUES(3,'t2','docs',1700000000000,2,'SUFFICIENT',5,'','["rerank_failed"]',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "lookups" VALUES(4,'t3','docs,web',1796101176175,7,'WEAK',1,'','[]','team',NULL,'hybrid','','',0,'','',NULL,'[{"evidenceKey": "a#chunk-0", "corpus": "docs", "generation": 1, "contentSha256": "0000000000000000000000000000000000000000000000000000000000000000", "score": 0.5, "hitReasons": ["dense"]}]');
CREATE TABLE revisions (
	corpus VARCHAR(64) NOT NULL, 
	revision BIGINT NOT NULL, 
	PRIMARY KEY (corpus)
);
INSERT INTO "revisions" VALUES('docs',1);
INSERT INTO "revisions" VALUES('memory',1);
CREATE TABLE roots (
	corpus VARCHAR(64) NOT NULL, 
	source_name VARCHAR(255) NOT NULL, 
	folder TEXT NOT NULL, 
	PRIMARY KEY (corpus, source_name)
);
INSERT INTO "roots" VALUES('docs','manual','/x/manual');
CREATE TABLE runs (
	run_id VARCHAR(64) NOT NULL, 
	corpus VARCHAR(64) NOT NULL, 
	action VARCHAR(16) NOT NULL, 
	flow_run_id VARCHAR(64) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	receipt TEXT NOT NULL, 
	started_at BIGINT NOT NULL, 
	finished_at BIGINT NOT NULL, 
	PRIMARY KEY (run_id)
);
INSERT INTO "runs" VALUES('r1','docs','ingest','','done','{"failures": []}',5,6);
CREATE TABLE versions (
	corpus VARCHAR(64) NOT NULL, 
	doc_id VARCHAR(512) NOT NULL, 
	version BIGINT NOT NULL, 
	text_digest VARCHAR(64) NOT NULL, 
	raw_sha256 VARCHAR(64) NOT NULL, 
	record TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	PRIMARY KEY (corpus, doc_id, version)
);
INSERT INTO "versions" VALUES('docs','rail.md',1,'982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1','610f26d87827f2210a060c7bb3a2c8e64768a8bcdbe9f2467dc4b9bb86300f2b','{"aliases": [], "category": "guide", "kb_scope": "", "keywords": ["one", "zwei"], "source": "manual/a.md", "source_name": "manual", "summary": "", "tags": [], "title": "Über 😀"}',1700000000000);
INSERT INTO "versions" VALUES('docs','hnsw.md',1,'982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1','610f26d87827f2210a060c7bb3a2c8e64768a8bcdbe9f2467dc4b9bb86300f2b','{"aliases": [], "category": "guide", "kb_scope": "", "keywords": ["one", "zwei"], "source": "manual/a.md", "source_name": "manual", "summary": "", "tags": [], "title": "Über 😀"}',1700000000000);
INSERT INTO "versions" VALUES('docs','eval.md',1,'982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1','610f26d87827f2210a060c7bb3a2c8e64768a8bcdbe9f2467dc4b9bb86300f2b','{"aliases": [], "category": "guide", "kb_scope": "", "keywords": ["one", "zwei"], "source": "manual/a.md", "source_name": "manual", "summary": "", "tags": [], "title": "Über 😀"}',1700000000000);
INSERT INTO "versions" VALUES('docs','O''Neil.md',1,'982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1','610f26d87827f2210a060c7bb3a2c8e64768a8bcdbe9f2467dc4b9bb86300f2b','{"aliases": [], "category": "guide", "kb_scope": "", "keywords": ["one", "zwei"], "source": "manual/a.md", "source_name": "manual", "summary": "", "tags": [], "title": "Über 😀"}',1700000000000);
INSERT INTO "versions" VALUES('docs','gone.md',1,'982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1','610f26d87827f2210a060c7bb3a2c8e64768a8bcdbe9f2467dc4b9bb86300f2b','{"aliases": [], "category": "guide", "kb_scope": "", "keywords": ["one", "zwei"], "source": "manual/a.md", "source_name": "manual", "summary": "", "tags": [], "title": "Über 😀"}',1700000000000);
INSERT INTO "versions" VALUES('memory','item',1,'982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1','610f26d87827f2210a060c7bb3a2c8e64768a8bcdbe9f2467dc4b9bb86300f2b','{"aliases": [], "category": "guide", "kb_scope": "", "keywords": ["one", "zwei"], "source": "manual/a.md", "source_name": "manual", "summary": "", "tags": [], "title": "Über 😀"}',1700000000000);
CREATE INDEX ix_indexed_source ON "indexed" (corpus, generation, source_name, kb_scope);
CREATE INDEX ix_ledger_document ON ledger (corpus, generation, doc_id, version);
CREATE INDEX ix_ledger_key ON ledger (evidence_key, corpus);
CREATE INDEX ix_journal_open ON journal (open_slot, corpus, generation);
CREATE INDEX ix_lookups_corpus ON lookups (corpus, created_at);
CREATE INDEX ix_runs_started ON runs (started_at);
CREATE INDEX ix_l0_terms_document ON l0_terms (corpus, doc_id);
CREATE INDEX ix_lookups_trace ON lookups (trace_id);
COMMIT;
