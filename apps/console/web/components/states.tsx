/** Replacements for missing content: empty, failed, absent or loading. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { ForbiddenError, NotFoundError } from '@muster/client';
import { useStreamConnection } from '../data/context.ts';
import { resendUnansweredRequests } from '../data/unanswered.ts';
import { t } from '../messages/index.ts';
import { errorText } from './notices.tsx';

interface EmptyStateProps {
  readonly title: string;
  /** True if this is the only heading of the page. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}

export const EmptyState = ({ title, isPage = false, children }: EmptyStateProps) => (
  <div className="empty">
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
);

/** For pages that know without a request that the viewer may not use them. */
export const forbiddenError = new ForbiddenError({
  ...{ code: 'forbidden', message: '', status: 403, requestId: '' },
});

interface LoadErrorProps {
  readonly error: unknown;
  /** True if this replaces a whole page. */
  readonly isPage?: boolean;
  readonly onRetry?: () => void;
}

export function LoadError({ error, isPage = false, onRetry }: LoadErrorProps) {
  const isAbsent = error instanceof NotFoundError;
  const isForbidden = error instanceof ForbiddenError;
  return (
    <EmptyState
      title={isAbsent ? t.failed.notFoundTitle : isForbidden ? t.failed.forbidden : t.failed.title}
      isPage={isPage}
    >
      <p>{isAbsent ? t.failed.notFound : isForbidden ? t.failed.forbiddenWhy : errorText(error)}</p>
      {isAbsent || isForbidden || onRetry === undefined ? (
        <Link to="/" className="button">
          {t.failed.toMyWork}
        </Link>
      ) : (
        <button type="button" className="button" onClick={onRetry}>
          {t.retry}
        </button>
      )}
    </EmptyState>
  );
}

interface OfflineNoticeProps {
  readonly children: string;
  readonly whileOnline?: ReactNode;
}

/** Shows the text while the connection is lost. */
export function OfflineNotice({ children, whileOnline = null }: OfflineNoticeProps) {
  const { state } = useStreamConnection();
  return state === 'lost' ? (
    <p className="state" data-tone="wait" role="status">
      {children}
    </p>
  ) : (
    whileOnline
  );
}

/** The page shows that a response is slow after waiting this long for it, in milliseconds. */
const slowResponseMs = 1_000;

/** Shows that a response is taking long, and offers to send the request again. */
export function SlowNotice({ again: onRetry }: { readonly again: () => void }) {
  const [isSlow, setSlow] = useState(false);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), slowResponseMs);
    return () => clearTimeout(timer);
  }, [tries]);
  if (!isSlow && tries === 0) return null;
  return (
    <div className="slow">
      <p>{isSlow ? t.failed.slow : t.failed.retrying}</p>
      <button
        type="button"
        className="button"
        onClick={() => {
          setSlow(false);
          setTries(tries + 1);
          onRetry();
        }}
      >
        {t.retry}
      </button>
    </div>
  );
}

interface LoadingProps {
  readonly label: string;
  readonly rows?: number;
  readonly onRetry?: () => void;
}

export const Loading = ({ label, rows = 6, onRetry = resendUnansweredRequests }: LoadingProps) => (
  <div aria-busy="true" aria-label={label} role="status" style={{ display: 'grid', gap: 'var(--s2)' }}>
    <OfflineNotice whileOnline={<SlowNotice again={onRetry} />}>{t.failed.waits}</OfflineNotice>
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} className="skeleton" style={{ blockSize: '3rem', opacity: 1 - row / rows }} />
    ))}
  </div>
);
