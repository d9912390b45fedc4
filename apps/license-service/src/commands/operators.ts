/** The commands `operator` and `session`: grants and sessions of the support pages. */
import { formatMinute } from '@muster/terminal';
import {
  type PersonGrant,
  listGrants,
  makeGrant,
  peopleScopes,
  type PeopleScope,
  revokeGrant,
  parseGrantClaim,
} from '../operators/grants.ts';
import { listSessions, revokeAllSessions, revokeSession } from '../operators/sessions.ts';
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
import { formatValidity } from './tokens.ts';

function parsePeopleScopes(scopeList: string): PeopleScope[] {
  const named = scopeList.split(',').map((one) => one.trim());
  const unknown = named.find((one) => !peopleScopes.some((scope) => scope === one));
  if (unknown !== undefined)
    throw new RefusedError(
      'scope',
      `the scopes of people are ${peopleScopes.join(' and ')}; ${unknown} is not valid`,
    );
  if (!named.includes('read'))
    throw new RefusedError('scope', 'the scope change needs read too: read,change');
  return peopleScopes.filter((scope) => named.includes(scope));
}

const formatGrantee = ({ claim, value }: PersonGrant): string =>
  claim === 'email' ? value : `${claim}=${value}`;

const operatorGrantCommand: LicenseCommand = {
  name: 'operator grant',
  description:
    'Give people who sign in at OPERATORS_ISSUER access to the support pages; replaces earlier access',
  configure: (it) =>
    addProductOption(it)
      .argument(
        '<whom>',
        'an e-mail address such as ana@example.com, or a claim of the issuer: groups=support',
      )
      .requiredOption('--scope <scopes>', 'read, or read,change')
      .option(
        '--for <span>',
        'how long the access is valid, such as 365d; by default without end',
        parsePositiveDurationSeconds,
      ),
  run: async ({ pool }, options, [given = '']) => {
    const scopes = parsePeopleScopes(textOption(options, 'scope') ?? '');
    const wanted = {
      ...parseGrantClaim(given),
      product: productOption(options),
      scopes,
      seconds: numberOption(options, 'for'),
    };
    const grant = await inTransaction(pool, (db) => makeGrant(db, wanted));
    return {
      json: { grant },
      lines: [
        `${formatGrantee(grant)} may ${scopes.join(' and ')} licenses of product ${grant.product} from the next sign-in on.`,
      ],
    };
  },
};

const operatorListCommand: LicenseCommand = {
  name: 'operator list',
  description: 'List who has access to the support pages',
  run: async ({ pool }) => {
    const items = await inReadOnlyTransaction(pool, listGrants);
    return listOutput(items, {
      ID: (one) => one.id,
      WHOM: formatGrantee,
      PRODUCT: (one) => one.product,
      SCOPES: (one) => one.scopes.join(','),
      STATE: formatValidity,
      'LAST SIGN-IN': (one) => formatMinute(one.lastUsedAt),
    });
  },
};

const operatorRevokeCommand: LicenseCommand = {
  name: 'operator revoke',
  description: 'Revoke access; it ends with the next request',
  configure: (it) => it.argument('<id>', 'its id, as shown by operator list'),
  run: async ({ pool }, _options, [id = '']) => {
    const grant = await inTransaction(pool, (db) => revokeGrant(db, id));
    return {
      json: { grant },
      lines: [`${formatGrantee(grant)} no longer has this access to product ${grant.product}.`],
    };
  },
};

const sessionListCommand: LicenseCommand = {
  name: 'session list',
  description: 'List the sessions on the support pages',
  configure: (it) => it.option('--all', 'include sessions that ended in the last thirty days'),
  run: async ({ pool }, options) => {
    const items = await inReadOnlyTransaction(pool, (db) => listSessions(db, options['all'] === true));
    return listOutput(items, {
      ID: (one) => one.id,
      WHO: (one) => one.name,
      BY: (one) => one.by,
      FROM: (one) => one.ip ?? '',
      SINCE: (one) => formatMinute(one.createdAt),
      'LAST SEEN': (one) => formatMinute(one.lastSeenAt),
      STATE: (one) => (one.isGood ? `until ${formatMinute(one.expiresAt)}` : 'over'),
    });
  },
};

const sessionRevokeCommand: LicenseCommand = {
  name: 'session revoke',
  description: 'Sign out one person or everyone from the support pages; takes effect with the next request',
  configure: (it) =>
    it.argument('[id]', 'its id, as shown by session list').option('--all', 'all active sessions'),
  run: async ({ pool }, options, [id]) => {
    const isAll = options['all'] === true;
    if (isAll === (id !== undefined)) throw new RefusedError('session', 'give the id of a session, or --all');
    if (id === undefined) {
      const ended = await inTransaction(pool, revokeAllSessions);
      return { json: { ended }, lines: [`Ended ${ended} sessions.`] };
    }
    const session = await inTransaction(pool, (db) => revokeSession(db, id));
    return { json: { session }, lines: [`${session.name} is signed out.`] };
  },
};

export const operatorCommands = [
  operatorGrantCommand,
  operatorListCommand,
  operatorRevokeCommand,
  sessionListCommand,
  sessionRevokeCommand,
];
