ALTER TABLE `server_sessions` ADD `told_warm` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `start_times` ADD `warm_p50` integer;--> statement-breakpoint
ALTER TABLE `start_times` ADD `warm_p90` integer;