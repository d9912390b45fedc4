/** Where callers find each part of Muster. */
import { type Config } from '../../config.ts';

/** What Muster is, in a sentence. */
export const about = 'Coordinates a team, people and coding agents alike, around a codebase.';

export interface Addresses {
  /** Of this API, without a slash at the end. */
  readonly baseUrl: string;
  /** Of the guides; null where they are not served. */
  readonly docsUrl: string | null;
  /** Of the license service; null where there is none. */
  readonly licenseUrl: string | null;
  /** Where weaknesses are to be reported; null where no one said. */
  readonly securityContact: string | null;
  /** Whether this API hands `/api/mcp` on to a gateway. */
  readonly hasMcp: boolean;
  /** Whether the console is under `/console/`. */
  readonly hasConsole: boolean;
}

const bare = (url: string): string => url.replace(/\/+$/, '');

/** As configured; an API that was told no address is where it listens. */
export const addressesOf = (config: Config): Addresses => ({
  baseUrl: bare(config.BASE_URL ?? `http://127.0.0.1:${config.PORT}`),
  securityContact: config.SECURITY_CONTACT ?? null,
  docsUrl: config.DOCS_URL === undefined ? null : bare(config.DOCS_URL),
  licenseUrl: config.LICENSE_URL === undefined ? null : bare(config.LICENSE_URL),
  hasMcp: config.MCP_GATEWAY_URL !== undefined,
  hasConsole: config.CONSOLE_URL !== undefined,
});

export const mcpUrlOf = ({ baseUrl, hasMcp }: Addresses): string | null =>
  hasMcp ? `${baseUrl}/api/mcp` : null;
