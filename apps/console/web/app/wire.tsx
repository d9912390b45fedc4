/** Shows the state of the event stream, which tells how current the page is. */
import { useEffect, useRef } from 'react';
import { useStreamConnection } from '../data/context.ts';
import { useNow } from '../components/clock.tsx';
import { announceRateLimited } from '../components/notices.tsx';
import { t } from '../messages/index.ts';

function useConnectionText(): string {
  const wire = useStreamConnection();
  const now = useNow();
  return wire.state === 'lost'
    ? t.wire.lost(Math.max(0, Math.round((now - wire.since) / 1_000)))
    : t.wire[wire.state];
}

export function ConnectionState() {
  const { state } = useStreamConnection();
  const text = useConnectionText();
  return (
    <div className="wire" data-state={state} title={text}>
      <span className="state" data-tone={state === 'live' ? 'good' : 'wait'}>
        <span className="pulse" data-state={state} />
      </span>
      <span className="word">{text}</span>
    </div>
  );
}

/** Warns that the page may be outdated, for layouts whose rail has no room for text. */
export function ConnectionBanner() {
  const { state } = useStreamConnection();
  const text = useConnectionText();
  const isBehind = state === 'lost' || state === 'crowded';
  const wasBehind = useRef(false);
  useEffect(() => {
    if (isBehind || wasBehind.current) announceRateLimited(isBehind ? t.wire.behind : t.wire.caughtUp);
    wasBehind.current = isBehind;
  }, [isBehind]);
  return isBehind ? (
    <p className="wire-line" data-state={state}>
      {text}
    </p>
  ) : null;
}
