/**
 * Signs answers by RFC 9421, HTTP Message Signatures: an answer that was made up or changed on the way, or given to
 * another question, does not check. The body of the question is signed by its digest, and what a client sends as
 * License-Nonce too, so that an old answer cannot be given again.
 */
import { hash, type KeyObject, sign } from 'node:crypto';
import { component, createSignatureSync } from 'http-message-sig';

const ofRequest = (name: string) => component(name, { req: true });
const always = ['@status', 'content-digest', ofRequest('@method'), ofRequest('@path'), ofRequest('@query')];

/** What a question may have besides, and may be without. */
interface Has {
  readonly body: boolean;
  readonly nonce: boolean;
}

const componentsOf = (has: Has) => [
  ...always,
  ...(has.body ? [ofRequest('content-digest')] : []),
  ...(has.nonce ? [ofRequest('license-nonce')] : []),
];

/** The request as it came: its target is path and query, or an absolute URL. */
export interface Asked {
  readonly method: string;
  readonly target: string;
  /** The digest of the body, counted here: what a header of the request says of it does not matter. */
  readonly digest: string | undefined;
  /** The client's License-Nonce. */
  readonly nonce: string | undefined;
}

/** A body's digest as the header Content-Digest writes it (RFC 9530). */
export const digestOf = (content: string | Buffer): string =>
  `sha-256=:${hash('sha256', content, 'base64')}:`;

/** What a nonce may be: printable ASCII. */
export const isNonce = (text: string): boolean => /^[\x21-\x7e]{1,256}$/.test(text);

/** Scheme and authority of a target in absolute form, as proxies are asked (RFC 9112, 3.2.2). */
const authority = /^https?:\/\/[^/?#]*/i;

/** Path and query of a target; `/` where it has none, as `*` and an authority alone have. */
function pathAndQuery(target: string): string {
  if (target.startsWith('/')) return target;
  if (!authority.test(target)) return '/';
  const rest = target.replace(authority, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** A request's target may have bytes that no URL has; they are signed as every client library writes them. */
const asciiTarget = (target: string): string =>
  pathAndQuery(target).replace(
    /[^\x21-\x7e]|#/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );

/** Any host will do: none is signed, since the service may be reached by several. */
const origin = 'http://license-service';

/** Of the signature, among others that proxies may add. */
const label = 'license';

const anyStatus = 599;

/** What is different in each answer, as it stands in a form; none can stand anywhere else, in a key's name neither. */
const places = {
  status: `"@status": ${anyStatus}`,
  digest: 'DIGEST-HERE',
  bodyDigest: 'ASKED-BODY-HERE',
  method: 'METHODHERE',
  path: '/PATH-HERE',
  query: '?QUERY-HERE',
  nonce: 'NONCE-HERE',
  created: '1111111111',
} as const;
type Place = keyof typeof places;
type Values = Readonly<Record<Place, string>>;

/** A text with places in it, cut at them. */
function cut(text: string): (values: Values) => string {
  const pattern = new RegExp(
    `(${Object.values(places)
      .map((place) => place.replace('?', '\\?'))
      .join('|')})`,
  );
  const nameOf = new Map(Object.entries(places).map(([name, place]) => [place as string, name as Place]));
  // What stands between the places, one more than there are of them.
  const pieces = text.split(pattern);
  const [first = '', ...fixed] = pieces.filter((_, index) => index % 2 === 0);
  const names = pieces.flatMap((piece) => nameOf.get(piece) ?? []);
  const parts = names.map((name, index) => ({ name, after: fixed[index] ?? '' }));
  return (values) => {
    let whole = first;
    for (const { name, after } of parts) whole += values[name] + after;
    return whole;
  };
}

interface Form {
  /** What is signed. */
  readonly base: (values: Values) => string;
  readonly input: (values: Values) => string;
}

/**
 * What the library makes of an answer with a place for each value. It is the same for every answer by one key, and the
 * library takes twice the time of the signature itself to make it; so each form is made once.
 */
function makeForm(kid: string, has: Has): Form {
  let base = '';
  const { signatureInput } = createSignatureSync(
    {
      kind: 'response',
      status: anyStatus,
      fields: [{ name: 'content-digest', value: places.digest }],
      request: {
        ...{ kind: 'request', method: places.method, targetUri: origin + places.path + places.query },
        fields: [
          { name: 'content-digest', value: places.bodyDigest },
          { name: 'license-nonce', value: places.nonce },
        ],
      },
    },
    {
      label,
      components: componentsOf(has),
      parameters: { created: Number(places.created), keyid: kid, alg: 'ed25519' },
      signer: {
        algorithm: 'ed25519',
        sign: (bytes) => {
          base = Buffer.from(bytes).toString('latin1');
          return bytes;
        },
      },
    },
  );
  return { base: cut(base), input: cut(signatureInput) };
}

export type SignAnswer = (
  asked: Asked,
  answer: { readonly status: number; readonly content: string | Buffer },
) => Record<'content-digest' | 'signature' | 'signature-input', string>;

/** Makes ready to sign with one key. */
export function answerSigner({ kid, key }: { readonly kid: string; readonly key: KeyObject }): SignAnswer {
  const pair = (body: boolean) => ({
    plain: makeForm(kid, { body, nonce: false }),
    nonced: makeForm(kid, { body, nonce: true }),
  });
  const [withoutBody, withBody] = [pair(false), pair(true)];
  return ({ method, target, digest: bodyDigest, nonce }, { status, content }) => {
    const digest = digestOf(content);
    const url = asciiTarget(target);
    const query = url.indexOf('?');
    const values = {
      ...{ status: `"@status": ${status}`, digest, method, bodyDigest: bodyDigest ?? '', nonce: nonce ?? '' },
      path: query === -1 ? url : url.slice(0, query),
      // What has no query is signed as if it had an empty one (RFC 9421, 2.2.7).
      query: query === -1 ? '?' : url.slice(query),
      created: String(Math.floor(Date.now() / 1_000)),
    };
    const forms = bodyDigest === undefined ? withoutBody : withBody;
    const { base, input } = nonce === undefined ? forms.plain : forms.nonced;
    const signature = sign(null, Buffer.from(base(values), 'latin1'), key).toString('base64');
    return {
      'content-digest': digest,
      signature: `${label}=:${signature}:`,
      'signature-input': input(values),
    };
  };
}
