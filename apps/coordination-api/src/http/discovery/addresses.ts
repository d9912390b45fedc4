/** URLs of each part of the installation. */
import { type ApiConfig } from '../../config.ts';

/** A one-sentence description of Muster. */
export const productDescription = 'Coordinates people and coding agents around a codebase.';

export interface Addresses {
  /** URL of this API, without a trailing slash. */
  readonly baseUrl: string;
  /** URL of the guides; null if they are not served. */
  readonly docsUrl: string | null;
  /** URL of the license service; null if there is none. */
  readonly licenseUrl: string | null;
  /** Contact for security reports; null if none is configured. */
  readonly securityContact: string | null;
  /** True if this API forwards `/api/mcp` to a gateway. */
  readonly hasMcp: boolean;
  /** Namespace of the MCP server's name; null for the host in reverse. */
  readonly mcpNamespace: string | null;
  /** True if the console is available under `/console/`. */
  readonly hasConsole: boolean;
}

const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '');

/** Returns the configured URLs. Without BASE_URL, the API's URL is its listen address. */
export const addressesOf = (config: ApiConfig): Addresses => ({
  baseUrl: withoutTrailingSlash(config.BASE_URL ?? `http://127.0.0.1:${config.PORT}`),
  securityContact: config.SECURITY_CONTACT ?? null,
  docsUrl: config.DOCS_URL === undefined ? null : withoutTrailingSlash(config.DOCS_URL),
  licenseUrl: config.LICENSE_URL === undefined ? null : withoutTrailingSlash(config.LICENSE_URL),
  hasMcp: config.MCP_GATEWAY_URL !== undefined,
  mcpNamespace: config.MCP_NAMESPACE ?? null,
  hasConsole: config.CONSOLE_URL !== undefined,
});

export const mcpUrlOf = ({ baseUrl, hasMcp }: Addresses): string | null =>
  hasMcp ? `${baseUrl}/api/mcp` : null;
