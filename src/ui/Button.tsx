import type { AnchorHTMLAttributes, ButtonHTMLAttributes } from 'react'

type Look = { look?: 'primary' | 'danger' | 'plain'; small?: boolean }

function classes(look: Look['look'], small: boolean | undefined, more: string | undefined): string {
  return `btn${look ? ` btn-${look}` : ''}${small ? ' btn-small' : ''}${more ? ` ${more}` : ''}`
}

/** `type` defaults to "button": a button that submits must say so. */
export function Button({
  look,
  small,
  className,
  type = 'button',
  ...rest
}: Look & ButtonHTMLAttributes<HTMLButtonElement>) {
  return <button type={type} className={classes(look, small, className)} {...rest} />
}

export function ButtonLink({
  look,
  small,
  className,
  href,
  children,
  ...rest
}: Look & AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  return (
    <a href={href} className={classes(look, small, className)} {...rest}>
      {children}
    </a>
  )
}
