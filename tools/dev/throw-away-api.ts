import { startThrowAwayApp, type ThrowAwayApp, type ThrowAwayAppOptions } from './throw-away-app.ts';

/** A temporary coordination-api, which ends with this process. */
export type ThrowAwayApi = ThrowAwayApp;

export interface ThrowAwayApiOptions extends Omit<ThrowAwayAppOptions, 'environment'> {
  readonly databaseUrl: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts coordination-api on a migrated database, and returns once it is ready. */
export const startThrowAwayApi = ({
  databaseUrl,
  environment,
  ...options
}: ThrowAwayApiOptions): Promise<ThrowAwayApi> =>
  startThrowAwayApp('coordination-api', {
    ...options,
    environment: { DATABASE_URL: databaseUrl, ...environment },
  });
