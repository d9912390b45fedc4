import { type NotificationsRegistry } from '@muster/notifications-registry';
import { type HandlersOf } from '@muster/runtime';
import { createHandler } from './create.ts';
import { deleteOperation } from './delete.ts';
import { getDeliveryHandler } from './deliveries/get.ts';
import { list as listDeliveries } from './deliveries/list.ts';
import { redeliver } from './deliveries/redeliver.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { pause } from './pause.ts';
import { replay } from './replay.ts';
import { resume } from './resume.ts';
import { rotateSecretHandler } from './rotateSecret.ts';
import { type WebhooksConfig } from './set-up.ts';
import { test } from './test.ts';
import { updateHandler } from './update.ts';

export const createWebhookHandlers = (config: WebhooksConfig) =>
  ({
    create: createHandler(config),
    update: updateHandler(config),
    delete: deleteOperation,
    get,
    list,
    rotateSecret: rotateSecretHandler(config),
    test,
    pause,
    resume,
    replay,
    deliveries: { list: listDeliveries, get: getDeliveryHandler(config), redeliver },
  }) satisfies HandlersOf<NotificationsRegistry['webhooks']>;
