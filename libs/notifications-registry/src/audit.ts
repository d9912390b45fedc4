import { z } from 'zod';
import {
  org,
  operation,
  pageParams,
  pageSchemaOf,
  ActorParam,
  Instant,
  boundedText,
  AuditEntry,
} from '@muster/contract';

export const audit = {
  list: operation({
    name: 'audit.list',
    effect: 'read',
    summary: 'List the audit trail',
    keywords: 'security log who changed removed deleted denied compliance admin actions trace',
    description:
      'All writes, and refused attempts at sensitive operations, newest first. Entries cannot be changed or deleted, not even by the service itself.',
    access: org('admin'),
    params: z.strictObject({
      actorId: ActorParam.optional(),
      operation: boundedText(100, 1).optional(),
      outcome: z.enum(['allowed', 'denied']).optional(),
      from: Instant.optional(),
      to: Instant.optional(),
      ...pageParams,
    }),
    result: pageSchemaOf(AuditEntry),
    example: { outcome: 'denied' },
  }),
};
