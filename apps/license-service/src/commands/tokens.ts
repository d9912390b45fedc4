import { dayOf, minuteOf, table } from '@muster/terminal';
import {
  listTokens,
  makeToken,
  type OperatorToken,
  revokeToken,
  type OperatorScope,
  scopes,
} from '../operators/tokens.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, number, productIn, text, withProduct } from './command.ts';
import { positiveSpan } from './term.ts';

function scopesOf(given: string): OperatorScope[] {
  const named = given.split(',').map((one) => one.trim());
  const unknown = named.find((one) => !scopes.some((scope) => scope === one));
  if (unknown !== undefined)
    throw new Refused('scope', `${unknown} is not a scope; valid scopes: ${scopes.join(', ')}`);
  return scopes.filter((scope) => named.includes(scope));
}

export const tokenNew: LicenseCommand = {
  name: 'token new',
  description: 'Create a token for the HTTP API and the support pages; it is shown only once',
  shape: (it) =>
    withProduct(it)
      .requiredOption('--name <name>', 'its purpose or holder: shop, support-ana')
      .requiredOption('--scope <scopes>', `its scopes, separated by commas: ${scopes.join(', ')}`)
      .option('--for <span>', 'how long it is valid, such as 365d; by default without end', positiveSpan),
  run: async ({ pool }, options) => {
    const name = (text(options, 'name') ?? '').trim();
    if (name === '' || name.length > 64 || /\p{Cc}/u.test(name))
      throw new Refused('name', "a token's name has 1 to 64 characters");
    const may = scopesOf(text(options, 'scope') ?? '');
    const wanted = { product: productIn(options), name, scopes: may, seconds: number(options, 'for') };
    const { token, secret } = await inTransaction(pool, (db) => makeToken(db, wanted));
    return {
      json: { token, secret },
      lines: [
        `Token ${token.name} of product ${token.product}, for ${may.join(', ')}. Copy it now; it will not be shown again:`,
        secret,
      ],
    };
  },
};

export const tokenList: LicenseCommand = {
  name: 'token list',
  description: 'List the tokens of the HTTP API',
  run: async ({ pool }) => {
    const items = await reading(pool, listTokens);
    return {
      json: { items },
      lines: table(
        ['ID', 'NAME', 'PRODUCT', 'SCOPES', 'STATE', 'LAST USED'],
        items.map((one) => [
          ...[one.id, one.name, one.product, one.scopes.join(','), endOf(one), minuteOf(one.lastUsedAt)],
        ]),
      ),
    };
  },
};

/** Describes until when a token or grant is valid. */
export const endOf = ({
  revokedAt,
  expiresAt,
  isGood,
}: Pick<OperatorToken, 'revokedAt' | 'expiresAt' | 'isGood'>): string => {
  if (revokedAt !== null) return `revoked ${dayOf(revokedAt)}`;
  if (!isGood) return `expired ${dayOf(expiresAt)}`;
  return expiresAt === null ? 'good' : `valid until ${dayOf(expiresAt)}`;
};

export const tokenRevoke: LicenseCommand = {
  name: 'token revoke',
  description: 'Revoke a token; it stops working with the next call',
  shape: (it) => it.argument('<id>', 'its id, as shown by token list'),
  run: async ({ pool }, _options, [id = '']) => {
    const token = await inTransaction(pool, (db) => revokeToken(db, id));
    return { json: { token }, lines: [`Token ${token.name} was revoked.`] };
  },
};
