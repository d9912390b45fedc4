/** The button that downloads the entries of the audit trail that match the filters. */
import { useEffect, useRef, useState } from 'react';
import { type Client } from '@muster/client';
import { errorText, showNotice } from '../components/notices.tsx';
import { useClient } from '../data/context.ts';
import { type AuditFilter } from '../data/trail-filter.ts';
import { viewTexts } from '../messages/views.ts';
import { auditParams } from './queries.ts';

/** A browser keeps the whole file in memory, so it has at most this many entries. */
const maxEntries = 50_000;
const pageSize = 200;

interface AuditFile {
  readonly parts: readonly string[];
  /** True if there are more entries than the file has. */
  readonly isCut: boolean;
}

/** Loads the entries as NDJSON, page by page. Reports the number of entries after each page. */
async function loadEntries(
  client: Client,
  filter: AuditFilter,
  signal: AbortSignal,
  onProgress: (entries: number) => void,
): Promise<AuditFile> {
  const parts: string[] = [];
  let cursor: string | undefined;
  for (let entries = 0; entries < maxEntries;) {
    const page: Awaited<ReturnType<Client['audit']['list']>> = await client.audit.list({
      ...{ ...auditParams(filter), limit: pageSize, cursor },
    });
    signal.throwIfAborted();
    parts.push(page.items.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    entries += page.items.length;
    onProgress(entries);
    if (page.nextCursor === null) return { parts, isCut: false };
    cursor = page.nextCursor;
  }
  return { parts, isCut: true };
}

function saveFile(parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: 'application/x-ndjson' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `audit-${new Date().toISOString().slice(0, 10)}.ndjson`;
  link.click();
  URL.revokeObjectURL(url);
}

export function AuditDownload({ filter }: { readonly filter: AuditFilter }) {
  const client = useClient();
  /** The number of loaded entries; null while there is no download. */
  const [loaded, setLoaded] = useState<number | null>(null);
  const running = useRef<AbortController>(undefined);
  // A download ends with the page, which shows its progress.
  useEffect(() => () => running.current?.abort(), []);

  const download = async (): Promise<void> => {
    const { signal } = (running.current = new AbortController());
    setLoaded(0);
    try {
      const { parts, isCut } = await loadEntries(client, filter, signal, setLoaded);
      saveFile(parts);
      if (isCut) showNotice({ tone: 'warn', ...viewTexts.audit.downloadCut(maxEntries) });
    } catch (error) {
      if (signal.aborted) return;
      showNotice({ tone: 'bad', title: viewTexts.audit.downloadFailed, body: errorText(error) });
    }
    setLoaded(null);
  };

  return (
    <button
      type="button"
      className="button"
      disabled={loaded !== null}
      title={viewTexts.audit.downloadHint}
      onClick={() => void download()}
    >
      {loaded === null ? viewTexts.audit.download : viewTexts.audit.downloading(loaded)}
    </button>
  );
}
