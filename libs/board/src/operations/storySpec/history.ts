import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listSpecVersions } from '../../data/specs.ts';

export const history = handle(registry.storySpec.history, ({ params, targetId, db }) =>
  listSpecVersions(db, targetId, params),
);
