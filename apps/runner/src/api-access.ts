import { type Client, type HttpOptions } from '@muster/client';
import { type Command } from 'commander';

export interface RunnerConnection extends HttpOptions {
  readonly token: string;
  /** The name of the login that renews the token. Child processes get this name instead of the token. */
  readonly renewingLogin?: string;
}

/** The access to the API that the command line provides to the runner's commands. */
export interface ApiAccess {
  /** Adds the flags that choose an address, a token or a login. */
  addFlags(command: Command): Command;
  connect(flags: object): Promise<{ readonly connection: RunnerConnection; readonly client: Client }>;
}
