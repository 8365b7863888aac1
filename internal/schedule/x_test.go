package schedule
import ("testing";"time";"fmt")
func TestX(t *testing.T){
 for _,c:=range [][3]string{{"0 2 * * *","America/Los_Angeles","2025-03-08T12:00:00Z"},{"30 2 * * *","America/New_York","2026-03-07T12:00:00Z"},{"*/30 * * * *","America/New_York","2026-11-01T04:45:00Z"},{"0 0 * * *","America/Santiago","2026-09-05T12:00:00Z"},{"0 9 1 * 1","","2026-11-30T10:00:00Z"},{"0 9 */2 * 1","","2026-11-30T10:00:00Z"},{"0 0 29 2 *","","2096-03-01T00:00:00Z"}}{
  s,err:=Compile(Spec{Cron:c[0],TimeZone:c[1]}); if err!=nil{t.Fatal(err)}
  a,_:=time.Parse(time.RFC3339,c[2])
  for range 4 { o,ok:=s.Next(a); fmt.Println(c[0],o.Nominal,o.Due,o.Note,ok); p,_:=s.Previous(o.Due); if p!=o {fmt.Println("PREV",p)}; a=o.Due}
 }
 for _,z:=range []string{"europe/berlin","UTC+02:00","CEST","GMT+2","Local","","berlin"," Europe/Berlin","Europe/Berlin\n","US/Pacific-New","utc","asia/kolkata","Asia/Calcutta","Factory","posixrules","new york","EST5EDT","Europe/Berlim","UTC+05:30"}{
  _,n,e:=ResolveZone(z); fmt.Printf("%q %q %v\n",z,n,e)
 }
 for _,x:=range []string{"* * * * * *","*/0 * * * *","1,2,,3 * * * *","0 24 * * *","5/15 * * * *","0 9 * * 5-1","0 9 * * fri-mon","0 0 31 2 *","0 0 31 4,6,9,11 *","@reboot","TZ=Europe/Rome","TZ=","0 9 * * MONDAY","? * * * *","*/90 * * * *","0 0 30 2 *","0 9 1 * 1#6","",""," ","0 9 * *","0 9 L-3 * *","0 9 * * L"}{
  _,e:=Compile(Spec{Cron:x}); fmt.Printf("%q %v\n",x,e)
 }
}
func BenchmarkNext(b *testing.B){ b.ReportAllocs(); s,_:=Compile(Spec{Cron:"0 9 * * *",TimeZone:"America/New_York"}); a:=time.Date(2026,1,1,0,0,0,0,time.UTC); x:=a; for b.Loop(){ o,_:=s.Next(x); x=o.Due; if x.Year()>2040{x=a} }}
func BenchmarkBetween(b *testing.B){ b.ReportAllocs(); s,_:=Compile(Spec{Cron:"* * * * *",TimeZone:"America/New_York"}); a:=time.Date(2026,1,1,0,0,0,0,time.UTC); for b.Loop(){ n:=0; for range s.Between(a,a.AddDate(1,0,0)){n++}; if n!=525600{b.Fatal(n)}}}
