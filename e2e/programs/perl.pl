# Perl: its own buffered layer over read and write, sysopen, fork by backquotes.
use strict;
use warnings;
use Fcntl;
open(my $out, '>', 'text.txt') or die $!;
print $out "line $_\n" for 1 .. 1000;
close($out);
sysopen(my $raw, 'raw.dat', O_RDWR | O_CREAT, 0644) or die $!;
syswrite($raw, '0123456789') for 1 .. 50;
sysseek($raw, 0, 0);
my $got = 0;
while (my $n = sysread($raw, my $bytes, 100)) { $got += $n }
close($raw);
open(my $in, '<', 'text.txt') or die $!;
my $lines = 0;
$lines++ while <$in>;
print "$lines lines, $got bytes, ", `echo from a shell`;
exit 4;
