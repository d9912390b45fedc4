import { type Registry } from '@muster/registry';
import { type HandlersOf } from '@muster/runtime';
import { createWith } from './create.ts';
import { deleteOperation } from './delete.ts';
import { getWith } from './deliveries/get.ts';
import { list as listDeliveries } from './deliveries/list.ts';
import { redeliver } from './deliveries/redeliver.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { pause } from './pause.ts';
import { replay } from './replay.ts';
import { resume } from './resume.ts';
import { rotateSecretWith } from './rotateSecret.ts';
import { type WebhooksSetUp } from './set-up.ts';
import { test } from './test.ts';
import { updateWith } from './update.ts';

export const webhooksWith = (setUp: WebhooksSetUp) =>
  ({
    create: createWith(setUp),
    update: updateWith(setUp),
    delete: deleteOperation,
    get,
    list,
    rotateSecret: rotateSecretWith(setUp),
    test,
    pause,
    resume,
    replay,
    deliveries: { list: listDeliveries, get: getWith(setUp), redeliver },
  }) satisfies HandlersOf<Registry['webhooks']>;
