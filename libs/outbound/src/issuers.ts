/**
 * OpenID Connect issuers that organizations configure. They are called over guarded connections, and their
 * metadata must name the configured issuer. Sign-in redirects people to them, and the worker tests whether
 * that works.
 */
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  type ServerMetadata,
} from 'openid-client';
import { guardedFetch } from './fetch.ts';
import { type Sender } from './sender.ts';

export interface Issuer {
  /** The issuer identifier, byte for byte as in its metadata. */
  readonly issuer: string;
  readonly clientId: string;
  /** The secret of the client; null for a public client. */
  readonly clientSecret: string | null;
}

/** The issuer cannot be used. The message is for the admins of its organization. */
class IssuerProblem extends Error {
  override readonly name = 'IssuerProblem';
}

const maxMessageLength = 300;

/** Returns the message of the innermost cause, at most 300 characters. */
export function innermostMessageOf(error: unknown): string {
  let first = error;
  while (first instanceof Error && first.cause instanceof Error) first = first.cause;
  return (first instanceof Error ? first.message : String(first)).slice(0, maxMessageLength);
}

/**
 * Requires that an endpoint of the metadata is an http(s) URL, and https if the issuer itself is reached by
 * https.
 */
function requireEndpointUrl(issuer: string, metadata: ServerMetadata, name: EndpointName): void {
  const address = metadata[name];
  const protocol = address !== undefined && URL.canParse(address) ? new URL(address).protocol : undefined;
  if (protocol === undefined) throw new IssuerProblem(`its metadata has no ${name}`);
  if (protocol !== 'https:' && protocol !== new URL(issuer).protocol)
    throw new IssuerProblem(`${name} in its metadata is not an https URL`);
}

type EndpointName = 'authorization_endpoint' | 'token_endpoint' | 'jwks_uri';
const endpointNames: readonly EndpointName[] = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'];

/** Authenticates the client with a header, unless the metadata supports only the request body. */
const clientAuthenticationOf =
  (clientSecret: string): ClientAuth =>
  (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const isByBody = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
    const say = isByBody ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
    say(server, client, body, headers);
  };

/**
 * Reads the metadata of an issuer. Requests to the endpoints in it use the same guarded connections. Throws
 * IssuerProblem.
 */
export async function discoverIssuer(
  sender: Sender,
  { issuer, clientId, clientSecret }: Issuer,
): Promise<Configuration> {
  // The signature of each token is verified, even if it came directly from the issuer.
  const execute = [enableNonRepudiationChecks];
  // oxlint-disable-next-line typescript/no-deprecated -- it is marked so to stand out; such an issuer is in a network that the operator named
  if (issuer.startsWith('http:')) execute.push(allowInsecureRequests);
  const authenticate = clientSecret === null ? None() : clientAuthenticationOf(clientSecret);
  const found = await discovery(new URL(issuer), clientId, undefined, authenticate, {
    ...{ [customFetch]: guardedFetch(sender), execute },
  }).catch((error: unknown) => {
    throw new IssuerProblem(`its metadata could not be read: ${innermostMessageOf(error)}`);
  });
  const metadata = found.serverMetadata();
  if (metadata.issuer !== issuer)
    throw new IssuerProblem(
      `its metadata names another issuer: ${metadata.issuer.slice(0, maxMessageLength)}`,
    );
  for (const name of endpointNames) requireEndpointUrl(issuer, metadata, name);
  return found;
}
