ALTER TABLE `invoices` ADD `charge_at` integer;--> statement-breakpoint
ALTER TABLE `invoices` ADD `held_at` integer;--> statement-breakpoint
ALTER TABLE `invoices` ADD `held_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `charge_consent_at` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `charge_refused_at` integer;