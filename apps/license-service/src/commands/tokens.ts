import { formatDay, formatMinute } from '@muster/terminal';
import {
  listTokens,
  makeToken,
  type OperatorToken,
  revokeToken,
  type OperatorScope,
  operatorScopes,
} from '../operators/tokens.ts';
import { inTransaction, inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import {
  listOutput,
  type LicenseCommand,
  numberOption,
  productOption,
  textOption,
  addProductOption,
} from './command.ts';
import { parsePositiveDurationSeconds } from './term.ts';

function parseOperatorScopes(scopeList: string): OperatorScope[] {
  const named = scopeList.split(',').map((one) => one.trim());
  const unknown = named.find((one) => !operatorScopes.some((scope) => scope === one));
  if (unknown !== undefined)
    throw new RefusedError('scope', `${unknown} is not a scope; valid scopes: ${operatorScopes.join(', ')}`);
  return operatorScopes.filter((scope) => named.includes(scope));
}

const tokenNewCommand: LicenseCommand = {
  name: 'token new',
  description: 'Create a token for the HTTP API and the support pages; it is shown only once',
  configure: (it) =>
    addProductOption(it)
      .requiredOption('--name <name>', 'its purpose or holder: shop, support-ana')
      .requiredOption('--scope <scopes>', `its scopes, separated by commas: ${operatorScopes.join(', ')}`)
      .option(
        '--for <span>',
        'how long it is valid, such as 365d; by default without end',
        parsePositiveDurationSeconds,
      ),
  run: async ({ pool }, options) => {
    const name = (textOption(options, 'name') ?? '').trim();
    if (name === '' || name.length > 64 || /\p{Cc}/u.test(name))
      throw new RefusedError('name', "a token's name has 1 to 64 characters");
    const may = parseOperatorScopes(textOption(options, 'scope') ?? '');
    const wanted = {
      product: productOption(options),
      name,
      scopes: may,
      seconds: numberOption(options, 'for'),
    };
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

const tokenListCommand: LicenseCommand = {
  name: 'token list',
  description: 'List the tokens of the HTTP API',
  run: async ({ pool }) => {
    const items = await inReadOnlyTransaction(pool, listTokens);
    return listOutput(items, {
      ID: (token) => token.id,
      NAME: (token) => token.name,
      PRODUCT: (token) => token.product,
      SCOPES: (token) => token.scopes.join(','),
      STATE: formatValidity,
      'LAST USED': (token) => formatMinute(token.lastUsedAt),
    });
  },
};

/** Describes until when a token or grant is valid. */
export const formatValidity = ({
  revokedAt,
  expiresAt,
  isGood,
}: Pick<OperatorToken, 'revokedAt' | 'expiresAt' | 'isGood'>): string => {
  if (revokedAt !== null) return `revoked ${formatDay(revokedAt)}`;
  if (!isGood) return `expired ${formatDay(expiresAt)}`;
  return expiresAt === null ? 'good' : `valid until ${formatDay(expiresAt)}`;
};

const tokenRevokeCommand: LicenseCommand = {
  name: 'token revoke',
  description: 'Revoke a token; it stops working with the next call',
  configure: (it) => it.argument('<id>', 'its id, as shown by token list'),
  run: async ({ pool }, _options, [id = '']) => {
    const token = await inTransaction(pool, (db) => revokeToken(db, id));
    return { json: { token }, lines: [`Token ${token.name} was revoked.`] };
  },
};

export const tokenCommands = [tokenNewCommand, tokenListCommand, tokenRevokeCommand];
