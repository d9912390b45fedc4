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
  /** Actions of the notice. A notice with actions stays until one is chosen. */
  readonly acts?: readonly { readonly name: string; readonly run: () => void; readonly isMain?: boolean }[];
}
interface ShownNotice extends Notice {
  readonly id: number;
}

const shownMs = 8_000;
let lastId = 0;
let shownNotices: readonly ShownNotice[] = [];
let announcement = '';
const watchers = new Set<() => void>();
const subscribe = (changed: () => void): (() => void) => {
  watchers.add(changed);
  return () => watchers.delete(changed);
};
const notifyWatchers = (): void => {
  for (const changed of watchers) changed();
};

export function dismiss(id: number): void {
  shownNotices = shownNotices.filter((notice) => notice.id !== id);
  notifyWatchers();
}

/** Removes notices when another page opens, except for failures and notices with actions. */
export function dismissSeen(): void {
  shownNotices = shownNotices.filter(({ tone, acts }) => tone === 'bad' || acts !== undefined);
  notifyWatchers();
}

export function notify(notice: Notice): void {
  lastId += 1;
  const id = lastId;
  const others = shownNotices.filter(({ about }) => about === undefined || about !== notice.about);
  shownNotices = [...others.slice(-2), { ...notice, id }];
  announce([notice.title, notice.body].filter((text) => text !== undefined).join('. '));
  if (notice.acts === undefined) setTimeout(() => dismiss(id), shownMs);
}

/** Announces a text once. A repeated text is announced again. */
export function announce(text: string): void {
  announcement = text === announcement ? `${text}\u00A0` : text;
  notifyWatchers();
}

/** Minimum interval between announcements of other people's changes. */
const announceIntervalMs = 5_000;
let quietUntil = 0;
export function announceQuietly(text: string): void {
  if (Date.now() < quietUntil) return;
  quietUntil = Date.now() + announceIntervalMs;
  announce(text);
}

/** Returns the reason of a failed call for display. */
export function errorText(error: unknown): string {
  if (error instanceof UnauthorizedError) return t.failed.signedOut;
  return error instanceof MusterError ? error.body.message : t.failed.noAnswer;
}

export function Notices(): ReactNode {
  const notices = useSyncExternalStore(subscribe, () => shownNotices);
  const text = useSyncExternalStore(subscribe, () => announcement);
  return (
    <>
      <div className="sr-only" role="status" aria-live="polite" data-testid="spoken">
        {text}
      </div>
      <div className="notices">
        {notices.map(({ id, tone, title, body, acts }) => (
          <div key={id} className="notice" data-tone={tone}>
            <strong>{title}</strong>
            <button type="button" className="icon-button" aria-label={t.close} onClick={() => dismiss(id)}>
              <Icon name="close" />
            </button>
            {body !== undefined && <p>{body}</p>}
            {acts !== undefined && (
              <div className="notice-acts">
                {acts.map((act) => (
                  <button
                    key={act.name}
                    type="button"
                    className="button"
                    data-kind={act.isMain === true ? 'main' : undefined}
                    onClick={() => {
                      dismiss(id);
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
