/** Times read as an American's browser shows them, whatever locale this computer has: 9:17 PM, not 21:17. */
export function readAsAmerican(): void {
  Intl.DateTimeFormat = class extends Intl.DateTimeFormat {
    constructor(locales?: Intl.LocalesArgument, options?: Intl.DateTimeFormatOptions) {
      super(locales?.toString() || 'en-US', options)
    }
  } as typeof Intl.DateTimeFormat
}
