/**
 * Signs answers by RFC 9421, HTTP Message Signatures: an answer that was made up or changed on the way, or given to
 * another question, does not check. What a client sends as License-Nonce is signed too, so that an old answer cannot
 * be given again.
 */
import { hash, type KeyObject, sign } from 'node:crypto';
import { component, createSignatureSync } from 'http-message-sig';

const ofRequest = (name: string) => component(name, { req: true });
const always = ['@status', 'content-digest', ofRequest('@method'), ofRequest('@path'), ofRequest('@query')];
const withNonce = [...always, ofRequest('license-nonce')];

/** The request as it came: its target is path and query. */
export interface Asked {
  readonly method: string;
  readonly target: string;
  /** The client's License-Nonce. */
  readonly nonce: string | undefined;
}

/** What a nonce may be: printable ASCII. */
export const isNonce = (text: string): boolean => /^[\x21-\x7e]{1,256}$/.test(text);

/** A request's target may have bytes that no URL has; they are signed as every client library writes them. */
const asciiTarget = (target: string): string =>
  (target.startsWith('/') ? target : '/').replace(
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
function makeForm(kid: string, hasNonce: boolean): Form {
  let base = '';
  const { signatureInput } = createSignatureSync(
    {
      kind: 'response',
      status: anyStatus,
      fields: [{ name: 'content-digest', value: places.digest }],
      request: {
        ...{ kind: 'request', method: places.method, targetUri: origin + places.path + places.query },
        fields: [{ name: 'license-nonce', value: places.nonce }],
      },
    },
    {
      label,
      components: hasNonce ? withNonce : always,
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
  const plain = makeForm(kid, false);
  const nonced = makeForm(kid, true);
  return ({ method, target, nonce }, { status, content }) => {
    const digest = `sha-256=:${hash('sha256', content, 'base64')}:`;
    const url = asciiTarget(target);
    const query = url.indexOf('?');
    const values = {
      ...{ status: `"@status": ${status}`, digest, method, nonce: nonce ?? '' },
      path: query === -1 ? url : url.slice(0, query),
      // What has no query is signed as if it had an empty one (RFC 9421, 2.2.7).
      query: query === -1 ? '?' : url.slice(query),
      created: String(Math.floor(Date.now() / 1_000)),
    };
    const { base, input } = nonce === undefined ? plain : nonced;
    const signature = sign(null, Buffer.from(base(values), 'latin1'), key).toString('base64');
    return {
      'content-digest': digest,
      signature: `${label}=:${signature}:`,
      'signature-input': input(values),
    };
  };
}
