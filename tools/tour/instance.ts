import { migrate } from '@muster/database';
import { readDevFile } from '../dev/dev-file.ts';
import { instanceHolder } from '../dev/instance.ts';
import { startPostgres } from '../dev/postgres.ts';
import { mailFolder } from '../dev/repository.ts';
import { startThrowAwayApi } from '../dev/throw-away-api.ts';

/** A Muster to go on tour in. */
export interface Instance {
  readonly baseUrl: string;
  /** Of a login that owns the tables. */
  readonly databaseUrl: string;
  readonly is: string;
  /** Where its worker writes mails; null where none does. */
  readonly mailFolder: string | null;
  /** What the API said last, where it is ours to hear. */
  readonly tail: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** The one that `npm start` runs here, else one of our own that leaves nothing behind. */
export async function findInstance(): Promise<Instance> {
  const facts = readDevFile();
  const holder = await instanceHolder();
  if (facts !== undefined && holder !== undefined && facts.pid === holder && facts.baseUrl !== null) {
    return {
      baseUrl: facts.baseUrl,
      databaseUrl: facts.databaseUrl,
      is: 'the instance that runs here',
      mailFolder: facts.workerUrl === null ? null : mailFolder,
      tail: () => ['its log is .data/logs/coordination-api.log'],
      stop: () => Promise.resolve(),
    };
  }
  const postgres = await startPostgres({ durable: false });
  try {
    await migrate(postgres.url);
    const api = await startThrowAwayApi({ databaseUrl: postgres.url, log: 'warn' });
    return {
      baseUrl: api.url,
      databaseUrl: postgres.url,
      is: 'brought up for the tour, since none runs here',
      mailFolder: null,
      tail: api.tail,
      stop: async () => {
        await api.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
