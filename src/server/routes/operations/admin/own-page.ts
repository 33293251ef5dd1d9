/** Where to return after confirming the password: a page of the console, nothing else. */
export function ownPagePath(to: string): string {
  return /^\/(admin|console)(\/[\w-]+)*(\?[^#\s\\]*)?$/.test(to) ? to : '/admin/people'
}
