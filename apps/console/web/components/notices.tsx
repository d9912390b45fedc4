/** Notices of the console, shown on the page and announced in one live region. */
import { type ReactNode, useSyncExternalStore } from 'react';
import { MusterError, UnauthorizedError } from '@muster/client';
import { t } from '../messages/index.ts';
import { Icon } from './icons.tsx';

export interface Notice {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly body?: string;
  /** The subject of the notice. It replaces the notice with the same subject, if there is one. */
  readonly about?: string;
  /** The time for which the notice is shown. By default a few seconds, or until an action is chosen. */
  readonly durationMs?: number;
  /** Actions of the notice. */
  readonly actions?: readonly {
    readonly name: string;
    readonly run: () => void;
    readonly isMain?: boolean;
  }[];
}
interface VisibleNotice extends Notice {
  readonly id: number;
}

const noticeDurationMs = 8_000;
let lastNoticeId = 0;
let visibleNotices: readonly VisibleNotice[] = [];
let screenReaderAnnouncement = '';
const listeners = new Set<() => void>();
const subscribeToNotices = (onChange: () => void): (() => void) => {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
};
const notifyListeners = (): void => {
  for (const changed of listeners) changed();
};

export function dismissNotice(noticeId: number): void {
  visibleNotices = visibleNotices.filter((notice) => notice.id !== noticeId);
  notifyListeners();
}

/** Removes notices when another page opens, except for failures and notices with actions. */
export function dismissTransientNotices(): void {
  visibleNotices = visibleNotices.filter(({ tone, actions }) => tone === 'bad' || actions !== undefined);
  notifyListeners();
}

export function showNotice(notice: Notice): void {
  lastNoticeId += 1;
  const id = lastNoticeId;
  const others = visibleNotices.filter(({ about }) => about === undefined || about !== notice.about);
  visibleNotices = [...others.slice(-2), { ...notice, id }];
  announceToScreenReader([notice.title, notice.body].filter((text) => text !== undefined).join('. '));
  const durationMs = notice.durationMs ?? (notice.actions === undefined ? noticeDurationMs : undefined);
  if (durationMs !== undefined) setTimeout(() => dismissNotice(id), durationMs);
}

/** Announces a text once. A repeated text is announced again. */
export function announceToScreenReader(text: string): void {
  screenReaderAnnouncement = text === screenReaderAnnouncement ? `${text}\u00A0` : text;
  notifyListeners();
}

/** Minimum interval between announcements of other people's changes. */
const minAnnouncementIntervalMs = 5_000;
let quietUntilMs = 0;
export function announceRateLimited(text: string): void {
  if (Date.now() < quietUntilMs) return;
  quietUntilMs = Date.now() + minAnnouncementIntervalMs;
  announceToScreenReader(text);
}

/** Returns the reason of a failed call for display. The error may also be the reason in words. */
export function errorText(error: unknown): string {
  if (typeof error === 'string') return error;
  if (error instanceof UnauthorizedError) return t.failed.signedOut;
  return error instanceof MusterError ? error.body.message : t.failed.noAnswer;
}

export function Notices(): ReactNode {
  const notices = useSyncExternalStore(subscribeToNotices, () => visibleNotices);
  const text = useSyncExternalStore(subscribeToNotices, () => screenReaderAnnouncement);
  return (
    <>
      <div className="sr-only" role="status" aria-live="polite" data-testid="spoken">
        {text}
      </div>
      <div className="notices">
        {notices.map(({ id, tone, title, body, actions }) => (
          <div key={id} className="notice" data-tone={tone}>
            <strong>{title}</strong>
            <button
              type="button"
              className="icon-button"
              aria-label={t.close}
              onClick={() => dismissNotice(id)}
            >
              <Icon name="close" />
            </button>
            {body !== undefined && <p>{body}</p>}
            {actions !== undefined && (
              <div className="notice-acts">
                {actions.map((act) => (
                  <button
                    key={act.name}
                    type="button"
                    className="button"
                    data-kind={act.isMain === true ? 'main' : undefined}
                    onClick={() => {
                      dismissNotice(id);
                      act.run();
                    }}
                  >
                    {act.name}
                  </button>
                ))}
              </div>
            )}
          </div>
        ))}
      </div>
    </>
  );
}
