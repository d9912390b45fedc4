/**
 * The headers that a request of the 2026-07-28 revision repeats its body in, so that what stands between can route
 * without reading it. One that is missing, or says something else, is refused with -32020.
 */
import { type JSONRPCRequest } from '@modelcontextprotocol/server';
import { type IncomingHttpHeaders } from 'node:http';

export const headerMismatch = -32_020;

/** The parameter that Mcp-Name repeats, by method. */
const named: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

const encoded = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/** What no header can carry as it is goes as Base64 of its UTF-8; undefined where that is malformed. */
function decoded(value: string): string | undefined {
  if (!value.startsWith('=?base64?')) return value;
  const text = encoded.exec(value)?.[1];
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
}

const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
};

/** What is wrong with the headers; undefined where nothing is. Versions and methods that differ are met by the SDK. */
export function headerFault(
  { method, params }: JSONRPCRequest,
  headers: IncomingHttpHeaders,
): string | undefined {
  for (const name of ['MCP-Protocol-Version', 'Mcp-Method']) {
    if (headerOf(headers, name.toLowerCase()) === undefined) return `The header ${name} is missing.`;
  }
  const parameter = named[method];
  const wanted = parameter === undefined ? undefined : params?.[parameter];
  if (typeof wanted !== 'string') return undefined;
  const given = headerOf(headers, 'mcp-name');
  if (given === undefined) return 'The header Mcp-Name is missing.';
  const name = decoded(given);
  if (name === undefined) return 'The header Mcp-Name is no valid Base64.';
  return name === wanted ? undefined : 'The header Mcp-Name says something else than the body.';
}
