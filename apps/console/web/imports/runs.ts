/** Runs imports in this window, one per project. They continue while other pages are open. */
import { useSyncExternalStore } from 'react';
import {
  createEmptyReport,
  type ConversionOptions,
  type ImportFile,
  importFile,
  type ImportTarget,
  type ImportReport,
} from '@muster/import-files';

export interface ImportRun {
  readonly name: string;
  readonly entryCount: number;
  readonly entriesRead: number;
  readonly report: ImportReport;
  readonly state: 'running' | 'stopped' | 'failed' | 'done';
  readonly error: unknown;
  readonly stop: () => void;
  readonly resume: () => void;
}

export interface ImportRequest {
  readonly name: string;
  /** The number of entries in the file. */
  readonly entryCount: number;
  readonly file: ImportFile;
  readonly fitting: ConversionOptions;
  readonly destination: Omit<ImportTarget, 'signal'>;
}

const runsByProject = new Map<string, ImportRun>();
const listeners = new Set<() => void>();

const confirmUnload = (event: BeforeUnloadEvent): void => event.preventDefault();

function setRun(projectId: string, run: ImportRun | undefined): void {
  if (run === undefined) runsByProject.delete(projectId);
  else runsByProject.set(projectId, run);
  if ([...runsByProject.values()].some(({ state }) => state === 'running'))
    addEventListener('beforeunload', confirmUnload);
  else removeEventListener('beforeunload', confirmUnload);
  for (const changed of listeners) changed();
}

export function startImport(projectId: string, request: ImportRequest): void {
  const stopping = new AbortController();
  const report = createEmptyReport();
  let run: ImportRun = {
    name: request.name,
    entryCount: request.entryCount,
    entriesRead: 0,
    report,
    state: 'running',
    error: undefined,
    stop: () => stopping.abort(),
    resume: () => startImport(projectId, request),
  };
  const become = (more: Partial<ImportRun>): void => {
    run = { ...run, ...more };
    setRun(projectId, run);
  };
  become({});
  importFile(
    request.file,
    request.fitting,
    { ...request.destination, signal: stopping.signal },
    (read) => become({ entriesRead: read }),
    report,
  ).then(
    () => become({ state: 'done', entriesRead: request.entryCount }),
    (error: unknown) => become({ state: stopping.signal.aborted ? 'stopped' : 'failed', error }),
  );
}

export const forgetRun = (projectId: string): void => setRun(projectId, undefined);

const subscribeToRuns = (onChange: () => void): (() => void) => {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
};

export const useImportRun = (projectId: string): ImportRun | undefined =>
  useSyncExternalStore(subscribeToRuns, () => runsByProject.get(projectId));
