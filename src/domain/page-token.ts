/** A page's CSRF token: 64 bytes in base64url, then the ID of the person the page shows. */
export const MASKED_LENGTH = 86

/** The ID of the person whom a page's CSRF token was given to; empty: nobody. */
export const personOfToken = (token: string) => token.slice(MASKED_LENGTH)
