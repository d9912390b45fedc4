import { type Client, type HttpOptions } from '@muster/client';
import { type Command } from 'commander';

export interface Connection extends HttpOptions {
  readonly token: string;
  /** Name of the login that renews the token. Programs that are started get this name instead of the token. */
  readonly renewed?: string;
}

/** How the command line that these commands are part of reaches the API. */
export interface ApiAccess {
  /** Adds the flags that choose an address, a token or a login. */
  addFlags(command: Command): Command;
  connect(flags: object): Promise<{ readonly connection: Connection; readonly client: Client }>;
}
