/** Operations on licenses for operators' programs, such as a shop, a support desk or a renewal script. */
import { z } from 'zod';
import {
  setFeatures,
  renewLicense,
  setMachineLimit,
  resumeLicense,
  revokeLicense,
  replaceKey,
  suspendLicense,
} from '../operators/change.ts';
import { issueLicenses } from '../operators/issue.ts';
import { type License, listLicenses, lockLicense } from '../operators/license.ts';
import { listHeldMachines, releaseMachines, transferLicense } from '../operators/machines.ts';
import { findPlan } from '../operators/plans.ts';
import { durationSecondsOf } from '../operators/spans.ts';
import { listDenials, listEvents } from '../operators/trail.ts';
import { RefusedError } from '../operators/transaction.ts';
import { createCustomerLink, maxLinkSeconds, defaultLinkSeconds } from '../pages/links.ts';
import { defineOperation, getOwnLicense, type OperationContext } from './operation.ts';
import {
  CustomerRef,
  DenialRecord,
  EventRecord,
  LicenseId,
  LicenseRecord,
  PageLimit,
  MachineId,
  MachineLimit,
  MachineRecord,
  OwnFeatures,
  PlanName,
  StatusReason,
  OrderReference,
  Span,
  Term,
  planTermOf,
  toLicenseRecord,
} from './records.ts';

const LicenseResult = z.object({ license: LicenseRecord });
const maxLicensesPerCall = 100;

const IssuedRecord = z.object({
  id: z.uuid(),
  keyEnding: z.string(),
  key: z.string().nullable().describe('Shown only once; null if the order was issued before.'),
  customerUrl: z.url().describe('The page where the customer sees and releases machines; for your e-mail.'),
});

const issueOperation = defineOperation({
  path: 'licenses/issue',
  scope: 'issue',
  summary: 'Issue the licenses of a sale',
  description:
    'Repeating an order issues nothing and returns the existing licenses without their keys, which are shown only once. ' +
    'With `rekey`, licenses of the order that no machine has activated get new keys, for a caller that lost the first response; ' +
    'their old keys stop working.',
  params: z.strictObject({
    plan: PlanName,
    orderRef: OrderReference,
    customerRef: CustomerRef.optional(),
    term: Term.optional().describe('By default that of the plan.'),
    count: z.int().min(1).max(maxLicensesPerCall).default(1),
    machineLimit: MachineLimit.optional(),
    transferLimit: z.int().min(0).max(1_000).optional(),
    features: OwnFeatures.optional(),
    rekey: z.boolean().default(false),
  }),
  result: z.object({ plan: z.string(), isRepeated: z.boolean(), licenses: z.array(IssuedRecord) }),
  run: async (work, { term, rekey, ...order }) => {
    const { db, token } = work;
    const { product } = token;
    if ((await findPlan(db, order.plan, product)) === undefined)
      throw new RefusedError(
        'unknown_plan',
        `there is no plan ${order.plan} (create it with license plan set)`,
      );
    const { plan, licenses, isRepeated } = await issueLicenses(db, {
      ...{ ...order, product },
      ...(term !== undefined && { term: planTermOf(term) }),
    });
    const issuedRecords = [];
    for (const { id, hint, key } of licenses) {
      // Locks the license, so that no machine can activate it before its key is replaced.
      const isLost = key === null && rekey && (await lockLicense(db, { id })).activatedAt === null;
      const made = isLost ? await replaceKey(db, { id }) : undefined;
      const path = await createCustomerLink(db, work.secrets, id, defaultLinkSeconds);
      const customerUrl = work.baseUrl + path;
      issuedRecords.push({ id, keyEnding: made?.license.hint ?? hint, key: made?.key ?? key, customerUrl });
    }
    return { plan, isRepeated, licenses: issuedRecords };
  },
});

const listOperation = defineOperation({
  path: 'licenses/list',
  scope: 'read',
  summary: 'List licenses, newest first',
  params: z.strictObject({
    plan: PlanName.optional(),
    status: z.enum(['active', 'suspended', 'revoked']).optional(),
    customerRef: CustomerRef.optional(),
    orderRef: OrderReference.optional(),
    after: LicenseId.optional().describe('The last id of the previous page.'),
    limit: PageLimit,
  }),
  result: z.object({ items: z.array(LicenseRecord), nextAfter: z.uuid().nullable() }),
  run: async ({ db, token }, filter) => {
    const items = await listLicenses(db, { ...filter, product: token.product });
    const last = items.length === filter.limit ? items.at(-1)?.id : undefined;
    return { items: items.map(toLicenseRecord), nextAfter: last ?? null };
  },
});

const maxFindResults = 50;

const findOperation = defineOperation({
  path: 'licenses/find',
  scope: 'read',
  summary: 'Find licenses by order, customer or the end of the key',
  params: z
    .strictObject({
      orderRef: OrderReference.optional(),
      customerRef: CustomerRef.optional(),
      keyEnding: z
        .string()
        .min(4)
        .max(64)
        .optional()
        .describe('The last symbols of the key, at least four; the full key works too.'),
    })
    .refine(
      (named) => Object.values(named).filter((one) => one !== undefined).length === 1,
      'give one of orderRef, customerRef and keyEnding',
    ),
  result: z.object({ items: z.array(LicenseRecord) }),
  run: async ({ db, token }, { orderRef, customerRef, keyEnding }) => {
    const hint = keyEnding && keyEndingOf(keyEnding);
    const filter = { product: token.product, orderRef, customerRef, hint, limit: maxFindResults };
    return { items: (await listLicenses(db, filter)).map(toLicenseRecord) };
  },
});

/** Returns the last four symbols of a typed key or of its end. It is parsed as leniently as whole keys. */
export const keyEndingOf = (typedKey: string): string =>
  typedKey
    .replaceAll(/[^0-9a-z]/gi, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
    .slice(-4);

const getOperation = defineOperation({
  path: 'licenses/get',
  scope: 'read',
  summary: 'Show a license and its machines',
  params: z.strictObject({ id: LicenseId }),
  result: z.object({ license: LicenseRecord, machines: z.array(MachineRecord) }),
  run: async (work, { id }) => ({
    license: toLicenseRecord(await getOwnLicense(work, id)),
    machines: await listHeldMachines(work.db, id),
  }),
});

const historyOperation = defineOperation({
  path: 'licenses/history',
  scope: 'read',
  summary: 'Show the history of a license, and how often it was refused',
  params: z.strictObject({ id: LicenseId, limit: PageLimit }),
  result: z.object({ events: z.array(EventRecord), denials: z.array(DenialRecord) }),
  run: async (work, { id, limit }) => {
    await getOwnLicense(work, id);
    return {
      events: await listEvents(work.db, id, limit),
      denials: await listDenials(work.db, id, limit),
    };
  },
});

/** Defines an operation that changes one license and returns the changed license. */
const changeOperation = <Shape extends z.ZodRawShape>(
  path: string,
  [summary, description]: readonly [string, string?],
  extraParams: Shape,
  run: (
    work: OperationContext,
    id: string,
    params: z.output<z.ZodObject<Shape & { id: typeof LicenseId }, z.core.$strict>>,
  ) => Promise<License>,
) =>
  defineOperation({
    path: `licenses/${path}`,
    scope: 'change',
    ...{ summary, ...(description !== undefined && { description }) },
    params: z.strictObject({ id: LicenseId, ...extraParams }),
    result: LicenseResult,
    run: async (work, params) => {
      const { id } = params as { id: string };
      await getOwnLicense(work, id);
      return { license: toLicenseRecord(await run(work, id, params)) };
    },
  });

const repeatNote = 'Repeating the same orderRef has no effect.';

const machineChoiceOf = (slot: number | undefined) =>
  slot === undefined ? ({ kind: 'only' } as const) : ({ kind: 'slot', slot } as const);

const SlotParameter = z
  .int()
  .min(1)
  .optional()
  .describe('The slot of the machine; needed if several machines hold the license.');

const linkOperation = defineOperation({
  path: 'licenses/link',
  scope: 'issue',
  summary: 'Create a link where a customer can see and release the machines of a license',
  description:
    'Intended for the e-mail of the purchase. Anyone with the link can release machines; a new key for the license ends it.',
  params: z.strictObject({
    id: LicenseId,
    for: Span.optional().describe('How long the link is valid; the default is a year.'),
  }),
  result: z.object({ url: z.url() }),
  run: async (work, { id, for: span }) => {
    await getOwnLicense(work, id);
    const seconds = Math.min(durationSecondsOf(span ?? '') ?? defaultLinkSeconds, maxLinkSeconds);
    return { url: work.baseUrl + (await createCustomerLink(work.db, work.secrets, id, seconds)) };
  },
});

export const licenseOperations = [
  ...[issueOperation, listOperation, findOperation, getOperation, historyOperation, linkOperation],
  changeOperation(
    'suspend',
    ['Suspend the license: it is refused until it is resumed'],
    { reason: StatusReason.optional() },
    ({ db }, id, it) => suspendLicense(db, { id }, it.reason ?? null),
  ),
  changeOperation('resume', ['Resume a suspended license'], {}, ({ db }, id) => resumeLicense(db, { id })),
  changeOperation(
    'revoke',
    ['Revoke the license for good'],
    { reason: StatusReason.optional() },
    ({ db }, id, it) => revokeLicense(db, { id }, it.reason ?? null),
  ),
  changeOperation(
    'renew',
    ['Change the end of the license, for example after a paid renewal', repeatNote],
    { term: Term, orderRef: OrderReference.optional() },
    ({ db }, id, it) => renewLicense(db, { id }, planTermOf(it.term), it.orderRef),
  ),
  changeOperation(
    'extend',
    ['Extend the license by a duration; an expired one starts again from now', repeatNote],
    { for: Span, orderRef: OrderReference.optional() },
    ({ db }, id, it) =>
      renewLicense(db, { id }, { kind: 'for', seconds: durationSecondsOf(it.for) ?? 0 }, it.orderRef),
  ),
  changeOperation(
    'transfer',
    ["Transfer the license to another machine, within the plan's number of transfers"],
    { machineId: MachineId, slot: SlotParameter, force: z.boolean().default(false) },
    ({ db, hasher }, id, { machineId, slot, force }) =>
      transferLicense(db, { id }, { machineId, hasher, isForced: force, choice: machineChoiceOf(slot) }),
  ),
  changeOperation(
    'release',
    ['Release the license from its machine; the next machine that activates it gets it'],
    { slot: SlotParameter, all: z.boolean().default(false) },
    async ({ db }, id, { slot, all }) =>
      (await releaseMachines(db, { id }, all ? { kind: 'all' } : machineChoiceOf(slot))).license,
  ),
  changeOperation(
    'resize',
    ['Set how many machines can hold it at the same time; current machines keep it'],
    { machineLimit: MachineLimit },
    ({ db }, id, { machineLimit }) => setMachineLimit(db, { id }, machineLimit),
  ),
  changeOperation(
    'entitle',
    ['Give the license its own features; machines get them with their next certificate'],
    { features: OwnFeatures },
    ({ db }, id, { features }) => setFeatures(db, { id }, () => features),
  ),
];
