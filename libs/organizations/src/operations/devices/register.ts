import { newId } from '@muster/driver';
import { isChatService, parseUntrustedJson, WebPushSubscription } from '@muster/contract';
import { organizationsRegistry } from '@muster/organizations-registry';
import { badRequest, handle } from '@muster/runtime';
import {
  countDevices,
  deleteDevicesWithEndedTokens,
  findDevice,
  maxDevicesPerMember,
  lockPushToken,
  setDevice,
  removePushTokenFromOtherDevices,
  toDevice,
} from '../../data/devices.ts';
import { lockCallerMembership } from '../../data/members.ts';

export const register = handle(
  organizationsRegistry.devices.register,
  async ({ params, caller, db, access, refuse }) => {
    const { deviceId, name, platform, pushToken, appVersion } = params;
    const { memberId, tokenId } = caller;
    if (platform === 'web' && pushToken != null && !isWebPushSubscription(pushToken))
      throw badRequest('The pushToken is not a valid push subscription.', [
        {
          path: 'pushToken',
          message:
            "must be the JSON of a browser's PushSubscription, with an https endpoint, keys.p256dh and keys.auth",
        },
      ]);
    const [{ at }, , , , known, count] = await Promise.all([
      access(),
      lockCallerMembership(db, caller),
      pushToken == null ? undefined : lockPushToken(db, pushToken),
      deleteDevicesWithEndedTokens(db, caller),
      findDevice(db, caller, deviceId),
      countDevices(db, caller),
    ]);
    if (known === undefined && count.all >= maxDevicesPerMember)
      throw refuse('limit_exceeded', { limit: maxDevicesPerMember });

    // The id of a chat channel or a Slack account is reserved for it, because a client could change its meaning.
    if (known !== undefined && (isChatService(known.platform) || known.platform === 'slack_account'))
      throw badRequest('This device is a chat channel or a Slack account.', [
        { path: 'deviceId', message: 'must not be the id of a connected chat channel or Slack account' },
      ]);
    const device = {
      member_id: memberId,
      device_id: deviceId,
      id: known?.id ?? newId(),
      name,
      platform,
      push_token: pushToken === undefined ? (known?.push_token ?? null) : pushToken,
      token_id: tokenId,
      app_version: appVersion === undefined ? (known?.app_version ?? null) : appVersion,
      created_at: known?.created_at ?? at,
      updated_at: at,
    };
    if (pushToken != null) db.deferToCommit(removePushTokenFromOtherDevices(device));
    db.deferToCommit(setDevice(device, pushToken !== undefined));
    return { device: toDevice(device) };
  },
);

function isWebPushSubscription(text: string): boolean {
  try {
    return WebPushSubscription.safeParse(parseUntrustedJson(text)).success;
  } catch {
    return false;
  }
}
