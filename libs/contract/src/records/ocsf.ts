/**
 * Audit entries in the form that SIEMs read: API Activity of the Open Cybersecurity Schema Framework,
 * https://schema.ocsf.io/1.8.0/classes/api_activity.
 */
import { z } from 'zod';
import { interfaceVersion } from '../interface-version.ts';
import { type AuditEntry } from './trail.ts';

const schemaVersion = '1.8.0';
const classUid = 6003;
const productName = 'Muster';

/** The activities of the class, each with the verbs that begin the names of such operations. */
const activities = [
  [
    1,
    'Create',
    /^(create|add|begin|send|publish|acquire|connect|link|consent|assign|invite|register|request)/,
  ],
  [2, 'Read', /^(get|list|find|search|identity)/],
  [4, 'Delete', /^(delete|remove|revoke|retire|clear|disconnect|unlink|unassign|unregister|leave|purge)/],
] as const;
const updateActivity = [3, 'Update'] as const;

function activityOf(operation: string): readonly [number, string] {
  const verb = operation.slice(operation.lastIndexOf('.') + 1);
  const [id, name] = activities.find(([, , pattern]) => pattern.test(verb)) ?? updateActivity;
  return [id, name];
}

const Named = z.object({ uid: z.string().optional(), name: z.string().optional() });

export const OcsfApiActivity = z
  .object({
    category_uid: z.literal(6),
    category_name: z.string(),
    class_uid: z.literal(classUid),
    class_name: z.string(),
    activity_id: z.int(),
    activity_name: z.string(),
    type_uid: z.int(),
    time: z.int().describe('In milliseconds since 1970'),
    severity_id: z.int(),
    severity: z.string(),
    status_id: z.int(),
    status: z.string(),
    status_code: z.string().optional().describe('The reason of a refused call'),
    message: z.string(),
    metadata: z.object({
      version: z.string(),
      product: z.object({ name: z.string(), vendor_name: z.string(), version: z.string() }),
      uid: z.string().describe('The id of the audit entry'),
      log_name: z.string(),
      tenant_uid: z.string().describe('The id of the organization'),
      original_time: z.string(),
      sequence: z.int().optional().describe('The sequence number of the webhook message'),
    }),
    actor: z.object({
      user: Named.extend({ type_id: z.int(), credential_uid: z.string().optional() }),
      app_uid: z.string().optional().describe('The id of the agent that acted for the user'),
      app_name: z.string().optional(),
    }),
    api: z.object({
      operation: z.string(),
      service: z.object({ name: z.string() }),
      request: z.object({ uid: z.string() }),
    }),
    src_endpoint: z.object({ ip: z.string().optional(), svc_name: z.string().optional() }),
    http_request: z.object({ user_agent: z.string() }).optional(),
    resources: z.array(z.object({ uid: z.string(), type: z.string() })).optional(),
    unmapped: z.record(z.string(), z.unknown()).optional().describe('The details of the audit entry'),
  })
  .meta({ id: 'OcsfApiActivity' });
export type OcsfApiActivity = z.infer<typeof OcsfApiActivity>;

const userTypes = { user: 1, system: 3 } as const;

function actorOf({ actor, tokenId }: AuditEntry): OcsfApiActivity['actor'] {
  const credential = tokenId === null ? {} : { credential_uid: tokenId };
  if (actor.memberId === null)
    return { user: { name: actor.name, type_id: userTypes.system, ...credential } };
  const user = { uid: actor.memberId, type_id: userTypes.user, ...credential };
  return actor.agentId === null
    ? { user: { ...user, name: actor.name } }
    : { user, app_uid: actor.agentId, app_name: actor.name };
}

/** The organization of an entry, and its number among the messages of a webhook. */
interface OcsfContext {
  readonly orgId: string;
  readonly sequence?: number;
}

/** Converts an audit entry. Attributes that the entry has no value for are left out, as OCSF requires. */
export function toOcsf(entry: AuditEntry, { orgId, sequence }: OcsfContext): OcsfApiActivity {
  const { operation, target, outcome, reason, userAgent, details, actor } = entry;
  const [activityId, activityName] = activityOf(operation);
  const isAllowed = outcome === 'allowed';
  return {
    ...{ category_uid: 6, category_name: 'Application Activity' },
    ...{ class_uid: classUid, class_name: 'API Activity' },
    ...{ activity_id: activityId, activity_name: activityName, type_uid: classUid * 100 + activityId },
    time: Date.parse(entry.at),
    ...(isAllowed ? { severity_id: 1, severity: 'Informational' } : { severity_id: 2, severity: 'Low' }),
    ...(isAllowed ? { status_id: 1, status: 'Success' } : { status_id: 2, status: 'Failure' }),
    ...(reason !== null && { status_code: reason }),
    message: `${actor.name}: ${operation}${target === null ? '' : ` ${target}`} ${outcome}`,
    metadata: {
      version: schemaVersion,
      product: { name: productName, vendor_name: productName, version: interfaceVersion },
      ...{ uid: entry.id, log_name: 'audit', tenant_uid: orgId, original_time: entry.at },
      ...(sequence !== undefined && { sequence }),
    },
    actor: actorOf(entry),
    api: { operation, service: { name: productName }, request: { uid: entry.requestId } },
    src_endpoint: entry.ip === null ? { svc_name: productName } : { ip: entry.ip },
    ...(userAgent !== null && { http_request: { user_agent: userAgent } }),
    ...(target !== null && {
      resources: [{ uid: target, type: operation.slice(0, operation.lastIndexOf('.')) }],
    }),
    ...(details !== null && { unmapped: details }),
  };
}
