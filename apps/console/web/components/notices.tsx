/** What the console has to say: to the eye as a notice, to a screen reader by one live region. */
import { type ReactNode, useSyncExternalStore } from 'react';
import { MusterError, UnauthorizedError } from '@muster/client';
import { t } from '../messages/index.ts';
import { Icon } from './icons.tsx';

export interface Notice {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly title: string;
  readonly body?: string;
  /** Of several that tell of one thing, the last is shown. */
  readonly about?: string;
  /** Where it asks for a decision it stays until there is one. */
  readonly acts?: readonly { readonly name: string; readonly run: () => void; readonly isMain?: boolean }[];
}
interface Shown extends Notice {
  readonly id: number;
}

const shownMillis = 8_000;
let last = 0;
let shown: readonly Shown[] = [];
let spoken = '';
const watchers = new Set<() => void>();
const subscribe = (changed: () => void): (() => void) => {
  watchers.add(changed);
  return () => watchers.delete(changed);
};
const tell = (): void => {
  for (const changed of watchers) changed();
};

export function dismiss(id: number): void {
  shown = shown.filter((notice) => notice.id !== id);
  tell();
}

/** Another page begins: notices about the last one go, except failures and those that ask for a decision. */
export function dismissSeen(): void {
  shown = shown.filter(({ tone, acts }) => tone === 'bad' || acts !== undefined);
  tell();
}

export function notify(notice: Notice): void {
  last += 1;
  const id = last;
  const others = shown.filter(({ about }) => about === undefined || about !== notice.about);
  shown = [...others.slice(-2), { ...notice, id }];
  announce([notice.title, notice.body].filter((text) => text !== undefined).join('. '));
  if (notice.acts === undefined) setTimeout(() => dismiss(id), shownMillis);
}

/** Said once, and said again where it is the same as before. */
export function announce(text: string): void {
  spoken = text === spoken ? `${text}\u00A0` : text;
  tell();
}

/** What others do is said at most so often. */
const quietMillis = 5_000;
let quietUntil = 0;
export function announceQuietly(text: string): void {
  if (Date.now() < quietUntil) return;
  quietUntil = Date.now() + quietMillis;
  announce(text);
}

/** Why a call did not succeed, for people. */
export function reasonFor(error: unknown): string {
  if (error instanceof UnauthorizedError) return t.failed.signedOut;
  return error instanceof MusterError ? error.body.message : t.failed.noAnswer;
}

export function Notices(): ReactNode {
  const notices = useSyncExternalStore(subscribe, () => shown);
  const text = useSyncExternalStore(subscribe, () => spoken);
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
