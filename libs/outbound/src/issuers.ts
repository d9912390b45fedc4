/**
 * Issuers of OpenID Connect, as organizations name them: asked over guarded connections, and held to what they are named by.
 * Sign-in sends people there, and the worker tests whether it could.
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
  /** As it names itself, byte for byte. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
}

/** The issuer cannot be used; the message is for its organization's admins. */
class IssuerProblem extends Error {
  override readonly name = 'IssuerProblem';
}

const mostWords = 300;

/** What went wrong, in the words of what noticed it first. */
export function wordsOf(error: unknown): string {
  let first = error;
  while (first instanceof Error && first.cause instanceof Error) first = first.cause;
  return (first instanceof Error ? first.message : String(first)).slice(0, mostWords);
}

/** Where people and requests are sent has to be the web, by TLS where the issuer is reached by it. */
function requireAddress(issuer: string, metadata: ServerMetadata, name: AddressName): void {
  const address = metadata[name];
  const protocol = address !== undefined && URL.canParse(address) ? new URL(address).protocol : undefined;
  if (protocol === undefined) throw new IssuerProblem(`its metadata has no ${name}`);
  if (protocol !== 'https:' && protocol !== new URL(issuer).protocol)
    throw new IssuerProblem(`${name} of its metadata is no address of https`);
}

type AddressName = 'authorization_endpoint' | 'token_endpoint' | 'jwks_uri';
const addresses: readonly AddressName[] = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'];

/** How the client says who it is: by a header, unless the metadata has nothing but the body. */
const authentication =
  (clientSecret: string): ClientAuth =>
  (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const isByBody = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
    const say = isByBody ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
    say(server, client, body, headers);
  };

/**
 * Reads an issuer's metadata; what is asked by the answer goes over the same connections. Throws IssuerProblem.
 */
export async function openIssuer(
  sender: Sender,
  { issuer, clientId, clientSecret }: Issuer,
): Promise<Configuration> {
  // A token is believed by its signature, wherever it came from.
  const execute = [enableNonRepudiationChecks];
  // oxlint-disable-next-line typescript/no-deprecated -- it is marked so to stand out; such an issuer is in a network that the operator named
  if (issuer.startsWith('http:')) execute.push(allowInsecureRequests);
  const authenticate = clientSecret === null ? None() : authentication(clientSecret);
  const found = await discovery(new URL(issuer), clientId, undefined, authenticate, {
    ...{ [customFetch]: guardedFetch(sender), execute },
  }).catch((error: unknown) => {
    throw new IssuerProblem(`its metadata could not be read: ${wordsOf(error)}`);
  });
  const metadata = found.serverMetadata();
  if (metadata.issuer !== issuer)
    throw new IssuerProblem(`its metadata calls it ${metadata.issuer.slice(0, mostWords)}`);
  for (const name of addresses) requireAddress(issuer, metadata, name);
  return found;
}
