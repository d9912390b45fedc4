import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listAudit } from '../../data/audit.ts';

export const list = handle(registry.audit.list, ({ params, db }) => listAudit(db, params));
