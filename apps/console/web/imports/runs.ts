/** Runs imports in this window, one per project. They continue while other pages are open. */
import { useSyncExternalStore } from 'react';
import {
  emptyReport,
  type Fitting,
  type ImportFile,
  importFile,
  type ImportInto,
  type Report,
} from '@muster/import-files';

export interface ImportRun {
  readonly name: string;
  readonly total: number;
  readonly read: number;
  readonly report: Report;
  readonly state: 'running' | 'stopped' | 'failed' | 'done';
  readonly error: unknown;
  readonly stop: () => void;
  readonly goOn: () => void;
}

export interface ImportRequest {
  readonly name: string;
  /** The number of entries in the file. */
  readonly total: number;
  readonly file: ImportFile;
  readonly fitting: Fitting;
  readonly into: Omit<ImportInto, 'signal'>;
}

const runs = new Map<string, ImportRun>();
const watchers = new Set<() => void>();

const confirmUnload = (event: BeforeUnloadEvent): void => event.preventDefault();

function show(projectId: string, run: ImportRun | undefined): void {
  if (run === undefined) runs.delete(projectId);
  else runs.set(projectId, run);
  if ([...runs.values()].some(({ state }) => state === 'running'))
    addEventListener('beforeunload', confirmUnload);
  else removeEventListener('beforeunload', confirmUnload);
  for (const changed of watchers) changed();
}

export function start(projectId: string, wanted: ImportRequest): void {
  const stopping = new AbortController();
  const report = emptyReport();
  let run: ImportRun = {
    ...{ name: wanted.name, total: wanted.total, read: 0, report, state: 'running', error: undefined },
    stop: () => stopping.abort(),
    goOn: () => start(projectId, wanted),
  };
  const become = (more: Partial<ImportRun>): void => {
    run = { ...run, ...more };
    show(projectId, run);
  };
  become({});
  importFile(
    wanted.file,
    wanted.fitting,
    { ...wanted.into, signal: stopping.signal },
    (read) => become({ read }),
    report,
  ).then(
    () => become({ state: 'done', read: wanted.total }),
    (error: unknown) => become({ state: stopping.signal.aborted ? 'stopped' : 'failed', error }),
  );
}

export const forget = (projectId: string): void => show(projectId, undefined);

const subscribe = (changed: () => void): (() => void) => {
  watchers.add(changed);
  return () => watchers.delete(changed);
};

export const useRun = (projectId: string): ImportRun | undefined =>
  useSyncExternalStore(subscribe, () => runs.get(projectId));
