import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { dayInWords, duration, shortDuration } from '../time.ts';

export type DayHours = {
  /** `2026-03-01` */
  date: string;
  seconds: number;
};

const height = 260;
const edge = { top: 24, right: 4, bottom: 44, left: 34 };

/** The hours of seven days as bars. The table below it says the same. */
export function HoursChart({ days, today }: { days: DayHours[]; today: string }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const longest = Math.max(...days.map(({ seconds }) => seconds)) / 3600;
  // Lines at round hours, five of them at most.
  const step = [1, 2, 4, 5, 10, 20, 50, 100].find((hours) => longest / hours <= 5) ?? Math.ceil(longest / 5);
  const top = Math.max(step, Math.ceil(longest / step) * step);
  const inner = { width: width - edge.left - edge.right, height: height - edge.top - edge.bottom };
  const y = (hours: number): number => edge.top + inner.height * (1 - hours / top);
  const slot = inner.width / days.length;
  const bar = Math.min(56, slot * 0.62);
  const isNarrow = slot < 60;
  const told = days
    .map(({ date, seconds }) => `${dayInWords(date, { weekday: 'long' })} ${duration(seconds)}`)
    .join(', ');

  return (
    <div class="chart" ref={box}>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Hours by day: ${told}`}
      >
        {Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step).map((hours) => (
          <g key={hours} class="chart-line">
            <line x1={edge.left} x2={width - edge.right} y1={y(hours)} y2={y(hours)} />
            <text x={edge.left - 8} y={y(hours) + 4} text-anchor="end">
              {hours} h
            </text>
          </g>
        ))}
        {days.map(({ date, seconds }, index) => {
          const middle = edge.left + slot * (index + 0.5);
          const barTop = y(seconds / 3600);
          return (
            <g key={date} class={date === today ? 'chart-day today' : 'chart-day'}>
              {seconds > 0 && (
                <>
                  <path d={barPath(middle - bar / 2, barTop, bar, y(0) - barTop)} />
                  <text class="chart-value" x={middle} y={barTop - 7} text-anchor="middle">
                    {isNarrow ? (seconds / 3600).toFixed(1) : shortDuration(seconds)}
                  </text>
                </>
              )}
              <text x={middle} y={height - 24} text-anchor="middle">
                {dayInWords(date, { weekday: 'short' })}
              </text>
              <text class="chart-date" x={middle} y={height - 8} text-anchor="middle">
                {date === today && !isNarrow ? 'today' : dayInWords(date, { day: 'numeric' })}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

/** A bar with round corners at its top. */
function barPath(x: number, y: number, width: number, height: number): string {
  const r = Math.min(7, height, width / 2);
  return `M${x} ${y + height}v${r - height}q0 ${-r} ${r} ${-r}h${width - 2 * r}q${r} 0 ${r} ${r}v${height - r}z`;
}

/** The width that there is, so that letters keep their size on every screen. */
function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.max(240, Math.floor(entry.contentRect.width)));
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return width;
}
