import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';
const themes: readonly Theme[] = ['auto', 'light', 'dark'];
const storageKey = 'work-management-demo-theme';

/** What the person chose; `auto` follows the system. */
export const theme = signal<Theme>(themes.find((one) => one === localStorage.getItem(storageKey)) ?? 'auto');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  localStorage.setItem(storageKey, theme.value);
});

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length]!;
}
