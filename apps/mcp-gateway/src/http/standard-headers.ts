/**
 * Checks the headers in which a request of the 2026-07-28 revision repeats parts of its body, so that proxies
 * can route it unread. A missing or different header is rejected with -32020.
 */
import { type JSONRPCRequest } from '@modelcontextprotocol/server';
import { type IncomingHttpHeaders } from 'node:http';

export const headerMismatchCode = -32_020;

/** The request parameter that the header Mcp-Name repeats, by method. */
const nameParameterByMethod: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

const base64HeaderPattern =
  /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/**
 * Decodes a header value. Text that a header cannot carry is sent as Base64 of its UTF-8; malformed Base64
 * gives undefined.
 */
function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith('=?base64?')) return value;
  const text = base64HeaderPattern.exec(value)?.[1];
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
}

const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : undefined;
};

/**
 * Describes the error in the headers; undefined if there is none. The SDK checks that version and method
 * match the body.
 */
export function findHeaderFault(
  { method, params }: JSONRPCRequest,
  headers: IncomingHttpHeaders,
): string | undefined {
  for (const name of ['MCP-Protocol-Version', 'Mcp-Method']) {
    if (headerOf(headers, name.toLowerCase()) === undefined) return `The header ${name} is missing.`;
  }
  const parameter = nameParameterByMethod[method];
  const wanted = parameter === undefined ? undefined : params?.[parameter];
  if (typeof wanted !== 'string') return undefined;
  const given = headerOf(headers, 'mcp-name');
  if (given === undefined) return 'The header Mcp-Name is missing.';
  const name = decodeHeaderValue(given);
  if (name === undefined) return 'The header Mcp-Name is not valid Base64.';
  return name === wanted ? undefined : 'The header Mcp-Name does not match the body.';
}
