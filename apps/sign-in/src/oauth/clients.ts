/**
 * Clients that may request a connection: those with a client id metadata document, those that registered
 * themselves if the operator allows it, and our own command line.
 */
import { isCleanText, parseUntrustedJson } from '@muster/contract';
import { type Sender } from '@muster/outbound/sender';
import { type ClientMetadata } from 'oidc-provider';
import { z } from 'zod';

const deviceCodeGrantType = 'urn:ietf:params:oauth:grant-type:device_code';
/** Supported grant types; documents may name more. */
export const grantTypes = ['authorization_code', 'refresh_token', deviceCodeGrantType] as const;

/** Our own command line. It is redirected to any port on the loopback interface, or shows a code. */
export const commandLineClient: ClientMetadata = {
  client_id: 'muster-cli',
  client_name: 'Muster on the command line',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token', deviceCodeGrantType],
};

/**
 * Fields of a client id metadata document. A person can only consent to a client with a name and a redirect
 * URI.
 */
const ClientMetadataDocument = z.object({
  client_id: z.string(),
  client_name: z.string().trim().min(1).max(120).refine(isCleanText),
  redirect_uris: z.array(z.string().max(2_000)).min(1).max(20),
  grant_types: z.array(z.string()).default(['authorization_code', 'refresh_token']),
  token_endpoint_auth_method: z.string().optional(),
});

const maxDocumentBytes = 5 * 1024;

/** Returns the document without fields that the server does not support; undefined if it is invalid. */
function normalizeDocument(text: string): string | undefined {
  if (Buffer.byteLength(text) > maxDocumentBytes) return undefined;
  try {
    const { token_endpoint_auth_method: method, ...document } = ClientMetadataDocument.parse(
      parseUntrustedJson(text),
    );
    const known = document.grant_types.filter((type) => grantTypes.some((own) => own === type));
    return JSON.stringify({
      ...{ ...document, grant_types: known, application_type: 'native' },
      // Keep an authentication method that needs a client secret, so that the server rejects the client.
      token_endpoint_auth_method: method?.startsWith('client_secret') === true ? method : 'none',
    });
  } catch {
    return undefined;
  }
}

/** Fields of a registration that the server supports. */
const registrationFields = ['client_name', 'redirect_uris', 'grant_types', 'response_types'] as const;

/**
 * Returns the supported values. If none is supported, returns all of them, so that the server rejects them.
 */
function keepSupportedValues(value: unknown, supported: readonly string[]): unknown {
  const known = Array.isArray(value) ? value.filter((one) => supported.includes(one as string)) : [];
  return known.length > 0 ? known : value;
}

/**
 * Returns a registration as the server accepts it (RFC 7591, sections 2 and 3.2.1). Unsupported fields, nulls
 * and empty texts are dropped, and every client is public and native. Scopes are not registered: a person
 * consents to them each time, and a client may request more later.
 */
export function normalizeRegistration(metadata: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = registrationFields.flatMap((name) => {
    const value = metadata[name];
    return value === null || value === undefined || value === '' ? [] : [[name, value] as const];
  });
  const { grant_types: grants, response_types: responses, ...named } = Object.fromEntries(fields);
  return {
    ...named,
    ...(grants !== undefined && { grant_types: keepSupportedValues(grants, grantTypes) }),
    ...(responses !== undefined && { response_types: keepSupportedValues(responses, ['code']) }),
    ...{ application_type: 'native', token_endpoint_auth_method: 'none' },
  };
}

/**
 * Fetches a client id metadata document for the server, once, with a short timeout and without redirects.
 * Connections are restricted like those of webhooks.
 */
export const createDocumentFetcher =
  (sender: Sender) =>
  async (url: URL | string): Promise<Response> => {
    try {
      const { status, text, headers } = await sender.ask({
        ...{ method: 'GET', url: String(url), headers: { accept: 'application/json' } },
      });
      const body = status === 200 ? normalizeDocument(text) : undefined;
      if (body === undefined) return new Response(null, { status: status === 200 ? 422 : status });
      const lasts = headers['cache-control'];
      return new Response(body, { headers: lasts === undefined ? {} : { 'cache-control': lasts } });
    } catch {
      return new Response(null, { status: 502 });
    }
  };

/** Returns the host that vouches for a client; null if the client only claims its name. */
export const vouchingHostOf = (clientId: string): string | null =>
  URL.canParse(clientId) ? new URL(clientId).host : null;
